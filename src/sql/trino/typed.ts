import { isLosslessNumber, LosslessNumber, parse, stringify } from 'lossless-json';
import { quoteText } from '../canonical-text.ts';
import { replaceParameters } from '../parameters.ts';
import type { Query } from '../query-result.ts';
import { isNode, nodesOf, type SqlNode } from '../sql-tree.ts';
import { macroName } from './functions.ts';
import { untranslated } from './rewrite.ts';

/** A bound expression of DuckDB: the types of its operands before conversion. */
interface Bound {
  readonly name: string;
  readonly types: readonly SqlType[];
}

interface SqlType {
  readonly id: string;
  /** Digits after the point of a DECIMAL. */
  readonly scale: number;
}

const INTEGERS = [
  'TINYINT',
  'SMALLINT',
  'INTEGER',
  'BIGINT',
  'HUGEINT',
  'UTINYINT',
  'USMALLINT',
  'UINTEGER',
  'UBIGINT',
];
const NOWHERE = new LosslessNumber('0');
const FLOATS = ['FLOAT', 'DOUBLE'];

/**
 * Gives a query the results that Trino has where they depend on types: integers divide to integers, decimals to decimals, averages of
 * decimals keep their digits, floats are rounded when they are cast, and dates stay dates.
 *
 * @param sql one select in DuckDB's SQL
 */
export async function rewriteByTypes(query: Query, sql: string): Promise<string> {
  const [plan, tree] = [
    await readJson(query, 'json_serialize_plan', sql),
    await readJson(query, 'json_serialize_sql', sql),
  ];
  // Running it gives a better error.
  if (plan === undefined || tree === undefined) return sql;
  const bound = boundAt(plan);
  const averages = averageTypes(plan);
  let changed = 0;
  const rewrite = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(rewrite);
    if (!isNode(value) || isLosslessNumber(value)) return value;
    const node: SqlNode = Object.fromEntries(Object.entries(value).map(([key, each]) => [key, rewrite(each)]));
    const better =
      isAverage(node) && averages !== undefined
        ? rewriteAverage(node, averages)
        : rewriteNode(node, bound.get(placeOf(node)));
    if (better !== node) changed++;
    // Its text would be read as a decimal.
    return isFloat(better) ? castTo(text(String(constantIn(better))), 'DOUBLE') : better;
  };
  const better = rewrite(tree);
  const named = nameColumns(better);
  if (changed === 0 && named === better) return sql;
  const { rows } = await query(`SELECT json_deserialize_sql(${quoteText(stringify(named) ?? '')})`);
  return String(rows[0]?.[0]);
}

/** Trino names unnamed expressions `_col0`, `_col1`, by position. */
function nameColumns(tree: unknown): unknown {
  const [statement] = isNode(tree) && Array.isArray(tree['statements']) ? tree['statements'] : [];
  const node = isNode(statement) ? statement['node'] : undefined;
  if (!isNode(tree) || !isNode(statement) || !isNode(node)) return tree;
  const named = nameSelected(node);
  return named === node ? tree : { ...tree, statements: [{ ...statement, node: named }] };
}

/** The first select of a union names its columns. */
function nameSelected(node: SqlNode): SqlNode {
  const { left, select_list: list } = node;
  if (isNode(left)) {
    const named = nameSelected(left);
    return named === left ? node : { ...node, left: named };
  }
  if (!Array.isArray(list)) return node;
  const isNamed = (each: unknown): boolean =>
    !isNode(each) || each['alias'] !== '' || ['COLUMN_REF', 'STAR'].includes(String(each['class']));
  if (list.every(isNamed)) return node;
  return { ...node, select_list: list.map((each, at) => (isNamed(each) ? each : { ...each, alias: `_col${at}` })) };
}

async function readJson(query: Query, serialize: string, sql: string): Promise<SqlNode | undefined> {
  // Parameters are texts.
  const isPlan = serialize === 'json_serialize_plan';
  const asText = (written: string): string => "''".padEnd(Buffer.byteLength(written));
  const text = isPlan ? replaceParameters(sql, asText) : sql;
  const options = isPlan ? ', optimize := false' : '';
  const { rows } = await query(`SELECT ${serialize}(${quoteText(text)}${options})::VARCHAR`);
  // A number keeps its form: 2.0 is not 2.
  const tree: unknown = parse(String(rows[0]?.[0]));
  return isNode(tree) && tree['error'] !== true ? tree : undefined;
}

function placeOf(node: SqlNode): string {
  const name = node['class'] === 'CAST' ? 'cast' : String(node['function_name'] ?? '');
  return `${String(node['query_location'])} ${name.toLowerCase()}`;
}

/** Functions, operators and casts of a plan, by their place in the text and their name. */
function boundAt(plan: SqlNode): ReadonlyMap<string, Bound> {
  const found = new Map<string, Bound>();
  for (const node of nodesOf(plan)) {
    const at = String(node['query_location']);
    const kind = node['expression_class'];
    if (kind === 'BOUND_FUNCTION' || kind === 'BOUND_AGGREGATE') {
      const name = String(node['name']);
      const children = Array.isArray(node['children']) ? node['children'].filter(isNode) : [];
      found.set(`${at} ${name}`, { name, types: children.map(operandType) });
    } else if (kind === 'BOUND_CAST' && isNode(node['child'])) {
      found.set(`${at} cast`, { name: 'cast', types: [typeOf(node['child'])] });
    }
  }
  return found;
}

/** The type of an operand before DuckDB converted it. Casts of the text are in the tree. */
function operandType(node: SqlNode): SqlType {
  return node['expression_class'] === 'BOUND_CAST' && isNode(node['child']) ? typeOf(node['child']) : typeOf(node);
}

function typeOf(node: SqlNode): SqlType {
  const type = isNode(node['return_type'])
    ? node['return_type']
    : isNode(node['value'])
      ? node['value']['type']
      : undefined;
  return isNode(type) ? sqlType(type) : { id: '', scale: 0 };
}

function sqlType(type: SqlNode): SqlType {
  const more = isNode(type['type_info']) ? type['type_info'] : {};
  return { id: String(type['id']), scale: Number(more['scale'] ?? 0) };
}

function rewriteNode(node: SqlNode, bound: Bound | undefined): SqlNode {
  const children = Array.isArray(node['children']) ? node['children'].filter(isNode) : [];
  // AT TIME ZONE: the instant of a time, which is in UTC without a zone, as clocks there show it.
  if (node['function_name'] === 'timezone' && children.length === 2) {
    const [zone = node, time = node] = children;
    if (time['function_name'] === macroName('at_timezone'))
      throw untranslated('AT TIME ZONE of a time AT TIME ZONE', "timezone('Europe/Zurich', time)");
    return { ...call(macroName('at_timezone'), [time, zone]), alias: node['alias'] };
  }
  if (bound === undefined) return node;
  const types = bound.types.map((type, at) => writtenType(children[at]) ?? type);
  if (node['class'] === 'CAST') {
    const to = isNode(node['cast_type']) ? String(node['cast_type']['id']) : '';
    const isRounded = INTEGERS.includes(to) && FLOATS.includes(bound.types[0]?.id ?? '') && isNode(node['child']);
    return isRounded ? { ...node, child: call('round', [node['child'] as SqlNode]) } : node;
  }
  const [left, right] = types;
  switch (bound.name) {
    case '/':
      return left === undefined || right === undefined ? node : rewriteDivision(node, children, [left, right]);
    case 'date_trunc':
      return right?.id === 'DATE' ? castTo(node, 'DATE') : node;
    case '+':
    case '-':
      return left?.id === 'DATE' && right?.id === 'INTERVAL' ? castTo(node, 'DATE') : node;
    default:
      return node;
  }
}

/** The type of a cast in the text, which a plan does not distinguish from DuckDB's own conversion. */
function writtenType(node: SqlNode | undefined): SqlType | undefined {
  return node?.['class'] === 'CAST' && isNode(node['cast_type']) ? sqlType(node['cast_type']) : undefined;
}

function rewriteDivision(node: SqlNode, children: readonly SqlNode[], types: readonly [SqlType, SqlType]): SqlNode {
  const isExact = ({ id }: SqlType): boolean => id === 'DECIMAL' || INTEGERS.includes(id);
  if (!types.every(isExact)) return node;
  if (types.every(({ id }) => INTEGERS.includes(id)))
    return { ...call(macroName('integer_divide'), children), alias: node['alias'] };
  const [a = node, b = node] = children;
  return divide([a, b], types);
}

function isAverage(node: SqlNode): boolean {
  return (node['class'] === 'FUNCTION' || node['class'] === 'WINDOW') && node['function_name'] === 'avg';
}

/**
 * Scale of the averaged decimals; undefined if none are averaged. A plan does not have the position of an aggregate.
 * @throws {UsageError} unless all averages are alike
 */
function averageTypes(plan: SqlNode): number | undefined {
  const averages = nodesOf(plan).filter(
    ({ expression_class: kind, name }) => name === 'avg' && /AGGREGATE|WINDOW/.test(String(kind)),
  );
  const types = averages.map(({ children }) =>
    Array.isArray(children) && isNode(children[0]) ? typeOf(children[0]) : undefined,
  );
  const scales = new Set(types.map((type) => (type?.id === 'DECIMAL' ? type.scale : undefined)));
  if (scales.size > 1) throw untranslated('averages of different kinds, some of decimals', 'avg(x::DOUBLE)');
  return [...scales][0];
}

function isFloat(node: SqlNode): boolean {
  const value = node['value'];
  return (
    node['class'] === 'CONSTANT' &&
    isNode(value) &&
    isNode(value['type']) &&
    value['type']['id'] === 'DOUBLE' &&
    value['is_null'] !== true
  );
}

function constantIn({ value }: SqlNode): unknown {
  return isNode(value) ? value['value'] : undefined;
}

function rewriteAverage(node: SqlNode, scale: number): SqlNode {
  const plain = { ...node, alias: '' };
  const [sum, count] = [
    { ...plain, function_name: 'sum' },
    { ...plain, function_name: 'count' },
  ];
  const average = divide(
    [sum, count],
    [
      { id: 'DECIMAL', scale },
      { id: 'BIGINT', scale: 0 },
    ],
  );
  return { ...average, alias: node['alias'] };
}

/** A decimal by a decimal, with as many digits after the point as the longer of the two, rounded half up. */
function divide([a, b]: readonly [SqlNode, SqlNode], [left, right]: readonly [SqlType, SqlType]): SqlNode {
  const scale = Math.max(left.scale, right.scale);
  const shift = scale + right.scale - left.scale;
  const digits = (each: SqlNode): SqlNode => call(macroName('digits_of'), [each]);
  const shifted = shift === 0 ? digits(a) : call('*', [digits(a), power(shift)], true);
  const quotient = castTo(call(macroName('scaled_divide'), [shifted, digits(b)]), 'DECIMAL', {
    width: 38 - scale,
    scale: 0,
  });
  return scale === 0 ? quotient : call('*', [quotient, fraction(scale)], true);
}

function power(digits: number): SqlNode {
  return castTo(text(`1${'0'.repeat(digits)}`), 'HUGEINT');
}

function fraction(scale: number): SqlNode {
  return castTo(text(`0.${'0'.repeat(scale - 1)}1`), 'DECIMAL', { width: scale, scale });
}

function text(value: string): SqlNode {
  return {
    class: 'CONSTANT',
    type: 'VALUE_CONSTANT',
    alias: '',
    query_location: NOWHERE,
    value: { type: { id: 'VARCHAR', type_info: null }, is_null: false, value },
  };
}

function call(name: string, children: readonly SqlNode[], isOperator = false): SqlNode {
  return {
    class: 'FUNCTION',
    type: 'FUNCTION',
    alias: '',
    query_location: NOWHERE,
    function_name: name,
    schema: '',
    children,
    filter: null,
    order_bys: { type: 'ORDER_MODIFIER', orders: [] },
    distinct: false,
    is_operator: isOperator,
    export_state: false,
    catalog: '',
  };
}

function castTo(child: SqlNode, id: string, decimal?: { readonly width: number; readonly scale: number }): SqlNode {
  const info =
    decimal === undefined ? null : { type: 'DECIMAL_TYPE_INFO', alias: '', extension_info: null, ...decimal };
  return {
    class: 'CAST',
    type: 'OPERATOR_CAST',
    alias: child['alias'] ?? '',
    query_location: NOWHERE,
    child: { ...child, alias: '' },
    cast_type: { id, type_info: info },
    try_cast: false,
  };
}
