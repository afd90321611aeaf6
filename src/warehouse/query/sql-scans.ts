import { isNode, type SqlNode } from '../../sql/sql-tree.ts';

/** A relation that a select reads, and the conditions on the day or the time of its rows; all of them hold for every row of the result. */
export interface Scan {
  readonly relation: string;
  /** Conditions over `block_date` and `block_time` alone, without names of tables. None: all rows are read. */
  readonly filters: readonly SqlNode[];
}

/** Selects behind names: `WITH` names, views. */
export type Resolve = (name: string) => SqlNode | undefined;

const DAY_COLUMNS = ['block_date', 'block_time'];
/** Functions of a time that are the same all day long. */
const DAY_FUNCTIONS = ['date', 'year', 'quarter', 'month', 'week', 'day', 'dayofmonth', 'dayofweek', 'dayofyear'];
const LONG_UNITS = ['day', 'week', 'month', 'quarter', 'year'];
const AGGREGATES = [
  'min',
  'max',
  'count',
  'first',
  'last',
  'any_value',
  'arg_min',
  'arg_max',
  'list',
  'string_agg',
  'mode',
];

/** The relations that a statement reads. */
export function scansIn(statement: unknown, resolve: Resolve): readonly Scan[] {
  const node = isNode(statement) && isNode(statement['node']) ? statement['node'] : statement;
  return isNode(node) ? scansOf(node, { resolve, inherited: [], open: [] }) : [];
}

interface Scope {
  readonly resolve: Resolve;
  /** Conditions of the selects around this one, without names of tables. */
  readonly inherited: readonly SqlNode[];
  /** Names that are being resolved: a recursive one stands for itself. */
  readonly open: readonly string[];
}

function scansOf(node: SqlNode, scope: Scope): readonly Scan[] {
  const withs = withSelects(node);
  const resolve: Resolve = (name) => withs.get(name) ?? scope.resolve(name);
  const inner = { ...scope, resolve };
  if (node['type'] === 'SELECT_NODE') return scansOfSelect(node, inner);
  const branches = ['left', 'right', 'query', 'child', 'children', 'node'].flatMap((key) => listOf(node[key]));
  return branches.flatMap((branch) => scansOf(branch, inner));
}

function scansOfSelect(select: SqlNode, scope: Scope): readonly Scan[] {
  const aliases = aliasesOf(select);
  const isLimited: boolean = listOf(select['modifiers']).some(({ type }) => String(type).startsWith('LIMIT'));
  const inherited: readonly SqlNode[] = isLimited
    ? []
    : scope.inherited.map((filter) => replaceAliases(filter, aliases, true)).filter((filter) => filter !== undefined);
  const sources = sourcesOf(select['from_table']);
  const conditions: readonly SqlNode[] = [select['where_clause'], ...sources.conditions]
    .flatMap((condition) => conjunctsOf(condition))
    .map((condition) => replaceAliases(condition, aliases, false))
    .filter((condition) => condition !== undefined);
  const scans = sources.relations.flatMap(({ name, alias, select: subquery }) => {
    const around = { ...scope, inherited: [...conditionsFor(conditions, alias), ...inherited] };
    return subquery === undefined ? scansOfName(name, around) : scansOf(subquery, around);
  });
  // A subquery within an expression need not read the same days.
  const expressions = [
    select['select_list'],
    select['where_clause'],
    select['having'],
    select['qualify'],
    ...sources.conditions,
  ];
  const nested = expressions.flatMap(subqueriesIn).flatMap((each) => scansOf(each, { ...scope, inherited: [] }));
  return [...scans, ...nested];
}

function scansOfName(name: string, scope: Scope): readonly Scan[] {
  const select = scope.resolve(name);
  const isOpen = scope.open.includes(name);
  if (isOpen && select?.['type'] === 'RECURSIVE_CTE_NODE') return [];
  if (isOpen || select === undefined)
    return [{ relation: name, filters: scope.inherited.map(daysOf).filter((one) => one !== undefined) }];
  return scansOf(select, { ...scope, open: [...scope.open, name] });
}

/** The selects that a node names by `WITH`. */
function withSelects({ cte_map: withs }: SqlNode): ReadonlyMap<string, SqlNode> {
  const entries = isNode(withs) ? listOf(withs['map']) : [];
  return new Map(
    entries.flatMap(({ key, value }) => {
      const query = isNode(value) ? value['query'] : undefined;
      const node = isNode(query) ? query['node'] : undefined;
      return isNode(node) ? [[String(key).toLowerCase(), node] as const] : [];
    }),
  );
}

interface Source {
  readonly name: string;
  readonly alias: string;
  /** A select in place of a name. */
  readonly select: SqlNode | undefined;
}

/** What a FROM reads, and the conditions of its inner joins. */
function sourcesOf(from: unknown): { readonly relations: readonly Source[]; readonly conditions: readonly unknown[] } {
  if (!isNode(from)) return { relations: [], conditions: [] };
  const alias = String(from['alias'] ?? '').toLowerCase();
  switch (from['type']) {
    case 'BASE_TABLE': {
      const name = String(from['table_name']).toLowerCase();
      return { relations: [{ name, alias: alias === '' ? name : alias, select: undefined }], conditions: [] };
    }
    case 'SUBQUERY': {
      const subquery = from['subquery'];
      const select = isNode(subquery) ? subquery['node'] : undefined;
      return { relations: isNode(select) ? [{ name: '', alias, select }] : [], conditions: [] };
    }
    case 'SHOW_REF': {
      const select = from['query'];
      const isRead = from['show_type'] !== 'DESCRIBE' && isNode(select);
      return { relations: isRead ? [{ name: '', alias, select }] : [], conditions: [] };
    }
    default: {
      const parts = ['left', 'right', 'source'].flatMap((key) => listOf(from[key])).map(sourcesOf);
      const own = from['type'] === 'JOIN' && from['join_type'] === 'INNER' ? [from['condition']] : [];
      return {
        relations: parts.flatMap(({ relations }) => relations),
        conditions: [...own, ...parts.flatMap(({ conditions }) => conditions)],
      };
    }
  }
}

/** The conditions for the rows of one table; the days of another one where it has none itself. */
function conditionsFor(conditions: readonly SqlNode[], alias: string): readonly SqlNode[] {
  const own = conditions.filter((each) => qualifiersOf(each).every((name) => name === '' || name === alias));
  const others = own.some(hasDays) ? [] : conditions.filter((each) => !own.includes(each)).map(daysOf);
  const known = others.filter((each) => each !== undefined);
  const isOfOne = new Set(known.flatMap(qualifiersOf)).size === 1;
  return [...own, ...(isOfOne ? known : [])].map(unqualified);
}

function hasDays(condition: SqlNode): boolean {
  return daysOf(condition) !== undefined;
}

/** What a condition says of days and times; undefined where that is nothing. */
function daysOf(condition: SqlNode): SqlNode | undefined {
  const filter = restricted(condition);
  return filter === undefined || columnsIn(filter).length === 0 ? undefined : filter;
}

/** The weakest condition over day columns alone that follows from a condition; undefined where there is none. */
function restricted(node: SqlNode): SqlNode | undefined {
  if (node['class'] === 'CONJUNCTION') {
    const parts = listOf(node['children']).map(restricted);
    const known = parts.filter((part) => part !== undefined);
    if (known.length === 0 || (node['type'] === 'CONJUNCTION_OR' && known.length < parts.length)) return undefined;
    return { ...node, children: known };
  }
  return isOfDays(node) ? node : undefined;
}

/** Whether a condition tells of nothing but days and times, and is the same between the moments that it names. */
function isOfDays(node: SqlNode): boolean {
  switch (node['class']) {
    case 'COLUMN_REF':
      return isClock(node) || DAY_COLUMNS.includes(columnName(node));
    case 'FUNCTION': {
      const name = String(node['function_name']);
      const children = listOf(node['children']);
      if (AGGREGATES.includes(name)) return columnsIn(node).length === 0;
      const isLong =
        DAY_FUNCTIONS.includes(name) || (name === 'date_trunc' && LONG_UNITS.includes(constantOf(children[0])));
      return (isLong || !columnsIn(node).includes('block_time')) && children.every(isOfDays);
    }
    case 'CAST': {
      const type = isNode(node['cast_type']) ? String(node['cast_type']['id']) : '';
      const child = isNode(node['child']) ? node['child'] : {};
      return (/^(DATE|TIMESTAMP)/.test(type) || !columnsIn(child).includes('block_time')) && isOfDays(child);
    }
    case 'WINDOW':
    case 'LAMBDA':
      return false;
    case 'SUBQUERY':
      // It is asked by itself: a name from outside is an error then, and no condition.
      return !isNode(node['child']);
    default:
      return Object.values(node).flatMap(listOf).every(isOfDays);
  }
}

function columnsIn(node: SqlNode): readonly string[] {
  if (node['class'] === 'SUBQUERY' || isClock(node)) return [];
  if (node['class'] === 'COLUMN_REF') return [columnName(node)];
  return Object.values(node).flatMap(listOf).flatMap(columnsIn);
}

/** The tables that a condition names, each once; `''` for a column without one. */
function qualifiersOf(node: SqlNode): readonly string[] {
  if (node['class'] === 'SUBQUERY' || isClock(node)) return [];
  if (node['class'] === 'COLUMN_REF') return [(namesOf(node).at(-2) ?? '').toLowerCase()];
  return [...new Set(Object.values(node).flatMap(listOf).flatMap(qualifiersOf))];
}

function unqualified(node: SqlNode): SqlNode {
  if (node['class'] === 'SUBQUERY') return node;
  if (node['class'] === 'COLUMN_REF') return { ...node, column_names: [columnName(node)] };
  return mapNodes(node, unqualified);
}

type Aliases = ReadonlyMap<string, SqlNode>;

/** What a select calls its columns, where that is another name than their own. */
function aliasesOf(select: SqlNode): Aliases {
  return new Map(
    listOf(select['select_list']).flatMap((expression) => {
      const alias = String(expression['alias'] ?? '');
      return alias === '' ? [] : [[alias, expression] as const];
    }),
  );
}

/**
 * A condition with the expressions that its names stand for. From outside (`isOutside`) a name is first that of the select list, and one
 * that is more than a day or a time makes it no condition of what is read.
 */
function replaceAliases(condition: SqlNode, aliases: Aliases, isOutside: boolean): SqlNode | undefined {
  let isLost = false;
  const replace = (node: SqlNode): SqlNode => {
    if (node['class'] === 'SUBQUERY') return node;
    if (node['class'] !== 'COLUMN_REF') return mapNodes(node, replace);
    const name = columnName(node);
    const meant =
      namesOf(node).length === 1 && (isOutside || !DAY_COLUMNS.includes(name)) ? aliases.get(name) : undefined;
    if (meant === undefined) return node;
    if (isOfDays(meant) && columnsIn(meant).length > 0) return { ...meant, alias: '' };
    isLost = true;
    return node;
  };
  const replaced = replace(condition);
  return isLost && isOutside ? undefined : replaced;
}

/** `current_date` and its like look like columns. */
export function isClock(node: SqlNode): boolean {
  const names = namesOf(node);
  return (
    node['class'] === 'COLUMN_REF' &&
    names.length === 1 &&
    /^(current_(date|time|timestamp)|localtime(stamp)?)$/i.test(names[0] ?? '')
  );
}

function conjunctsOf(condition: unknown): readonly SqlNode[] {
  if (!isNode(condition)) return [];
  return condition['type'] === 'CONJUNCTION_AND' ? listOf(condition['children']).flatMap(conjunctsOf) : [condition];
}

function subqueriesIn(tree: unknown): readonly SqlNode[] {
  if (Array.isArray(tree)) return tree.flatMap(subqueriesIn);
  if (!isNode(tree)) return [];
  const subquery = tree['class'] === 'SUBQUERY' ? tree['subquery'] : undefined;
  const own = isNode(subquery) && isNode(subquery['node']) ? [subquery['node']] : [];
  return [...own, ...Object.entries(tree).flatMap(([key, value]) => (key === 'subquery' ? [] : subqueriesIn(value)))];
}

function mapNodes(node: SqlNode, change: (node: SqlNode) => SqlNode): SqlNode {
  const changed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(changed);
    return isNode(value) ? change(value) : value;
  };
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, changed(value)]));
}

function listOf(value: unknown): readonly SqlNode[] {
  if (Array.isArray(value)) return value.filter(isNode);
  return isNode(value) ? [value] : [];
}

function namesOf({ column_names: names }: SqlNode): readonly string[] {
  return Array.isArray(names) ? names.map(String) : [];
}

function columnName(node: SqlNode): string {
  return (namesOf(node).at(-1) ?? '').toLowerCase();
}

function constantOf(node: SqlNode | undefined): string {
  const value = node?.['value'];
  return isNode(value) ? String(value['value']).toLowerCase() : '';
}
