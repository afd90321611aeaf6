import { StoreError } from '../../core/errors.ts';
import { kinds } from '../../declare/kind.ts';
import { selectedTable } from '../../declare/selected-table.ts';
import type { TableDef } from '../../declare/table.ts';
import { quoteName, quoteText } from '../../sql/canonical-text.ts';
import type { Database } from '../../sql/database.ts';
import { type Parameters, usedParameters } from '../../sql/parameters.ts';
import type { QueryResult } from '../../sql/query-result.ts';
import { selectWithin, splitStatements } from '../../sql/statements.ts';
import { DAY, type DayTime, dayStart, type Period } from './day-times.ts';

/** The part of a table or mart that a statement reads. */
export interface Scan {
  readonly relation: string;
  readonly columns: ReadonlySet<string> | 'all';
  /** Undefined: all of it. */
  readonly periods: readonly Period[] | undefined;
}

/** A database without rows in which DuckDB plans statements. */
export interface Mirror {
  readonly database: Pick<Database, 'query' | 'run' | 'count' | 'tablesIn'>;
  /** Creates the relations that a statement names. */
  prepare(statement: string): Promise<void>;
  /** Undefined for a relation that has no such table: a view, or nothing. */
  table(name: string): TableDef | undefined;
  /** The times of which {@link UNITS} was made. */
  readonly made: { times?: readonly DayTime[] };
  /** Variables that have the values that they will have when the statement runs, in lower case. */
  readonly variables: Set<string>;
}

/**
 * What some statements read, as DuckDB plans them over tables without rows: a scan in a plan names its table, its columns, and those conditions
 * on them that hold for every row it reads, with all constants computed. A condition that is not understood is none: then all that the
 * warehouse has is read.
 *
 * @param readTimes reads the times of the warehouse, for conditions on days, times and blocks. Default: all periods are read
 */
export async function scansIn(
  mirror: Mirror,
  sql: string,
  parameters: Parameters,
  readTimes: (() => Promise<readonly DayTime[]>) | undefined,
): Promise<readonly Scan[]> {
  const scans: Scan[] = [];
  for (const statement of splitStatements(sql)) {
    await mirror.prepare(statement);
    const { select, creates } = selectWithin(statement);
    const found = creates?.kind === 'view' ? [] : await scansOf(mirror, select, parameters, readTimes);
    scans.push(...found);
    if (creates === undefined) continue;
    const { kind, name } = creates;
    if (kind === 'variable') {
      const isConstant = found.length === 0 && !readsUnknown(select, mirror.variables) && !UNSTEADY.test(select);
      const isSet = isConstant && (await runOne(mirror, statement, parameters).catch(() => undefined)) !== undefined;
      mirror.variables[isSet ? 'add' : 'delete'](name.toLowerCase());
      continue;
    }
    const made = kind === 'view' ? statement : `CREATE OR REPLACE TEMP TABLE ${name} AS ${select}\nWITH NO DATA`;
    await runOne(mirror, made, kind === 'view' ? undefined : parameters).catch(() => {});
  }
  return scans;
}

/** Runs one statement, which may not hide others in a way that {@link splitStatements} overlooks. DuckDB makes several of a PIVOT. */
async function runOne({ database }: Mirror, statement: string, parameters: Parameters): Promise<QueryResult> {
  if (!/\bpivot/i.test(statement) && (await database.count(statement)) !== 1)
    throw new StoreError('store: query: expected one statement, got several', { code: 'not-a-query' });
  return database.query(statement, parameters);
}

async function scansOf(
  mirror: Mirror,
  select: string,
  parameters: Parameters,
  readTimes: (() => Promise<readonly DayTime[]>) | undefined,
): Promise<readonly Scan[]> {
  const isPlanned = (await isReadable(mirror)) && !readsUnknown(select, mirror.variables);
  const planned = isPlanned ? await plan(mirror, select, parameters) : undefined;
  if (planned === undefined) return scansByName(mirror, select);
  const isPivot = /\bpivot/i.test(select);
  const scans: Scan[] = [];
  for (const { relation, columns, filters } of planned) {
    const table = mirror.table(relation);
    const conditions =
      table === undefined || readTimes === undefined ? [] : filters.flatMap((filter) => onTime(filter, table) ?? []);
    scans.push({
      relation,
      columns: isPivot ? 'all' : columns,
      periods:
        conditions.length === 0 || readTimes === undefined
          ? undefined
          : await periodsWith(mirror, conditions, await readTimes()),
    });
  }
  return scans;
}

const PROBE = selectedTable({
  ...{ name: '_probe', grain: '', key: [], isDated: true },
  columns: [
    { name: 'block_date', type: 'DATE' },
    { name: 'x', type: 'BIGINT' },
  ],
});
/** Statements over {@link PROBE}, and the condition on days that their plan shows. */
const PROBES = [
  ["SELECT max(block_date) FROM _probe WHERE block_date = '2024-01-02' AND x > 3", "block_date='2024-01-02'::DATE"],
  ["SELECT max(x) FROM _probe WHERE block_date = '2024-01-02' OR x > 3", ''],
  ['SELECT max(block_date), min(block_date) FROM _probe', ''],
] as const;

/** The text of a plan is no contract: one that does not show what it should is not read. Asked once in a process. */
let readable: Promise<boolean> | undefined;

function isReadable(mirror: Mirror): Promise<boolean> {
  readable ??= probe(mirror);
  return readable;
}

async function probe(mirror: Mirror): Promise<boolean> {
  await mirror.database.run(emptyTable(PROBE));
  for (const [sql, days] of PROBES) {
    const [scan, ...others] = (await plan(mirror, sql, undefined)) ?? [];
    const found = scan?.filters.flatMap((filter) => onTime(filter, PROBE)?.sql ?? []).join(' ');
    if (scan?.relation !== PROBE.name || others.length > 0 || found !== days) return false;
  }
  return true;
}

/** A plan computes variables, which may have no value yet. */
function readsUnknown(select: string, variables: ReadonlySet<string>): boolean {
  const calls = select.match(/\bgetvariable\b/gi)?.length ?? 0;
  const named = select.matchAll(/\bgetvariable\s*\(\s*'((?:[^']|'')+)'/gi);
  const known = [...named].filter(([, name = '']) => variables.has(name.replaceAll("''", "'").toLowerCase()));
  return known.length < calls;
}

/** The relations that a statement names, if it cannot be planned. */
async function scansByName(mirror: Mirror, select: string): Promise<readonly Scan[]> {
  const scans: Scan[] = [];
  for (const name of mirror.database.tablesIn(select)) {
    const relation = name.toLowerCase();
    const planned = await plan(mirror, `FROM ${quoteName(relation)}`, undefined);
    const named = planned === undefined ? [relation] : planned.map((each) => each.relation);
    scans.push(...named.map((each) => ({ relation: each, columns: 'all' as const, periods: undefined })));
  }
  return scans;
}

interface PlannedScan {
  readonly relation: string;
  readonly columns: ReadonlySet<string>;
  /** Texts of SQL, all of which hold. */
  readonly filters: readonly string[];
}

/** The scans of tables in DuckDB's plan of a select; undefined if there is no plan. */
async function plan(
  mirror: Mirror,
  select: string,
  parameters: Parameters,
): Promise<readonly PlannedScan[] | undefined> {
  try {
    const { rows } = await runOne(mirror, `EXPLAIN (FORMAT json) ${select}`, usedParameters(select, parameters));
    return nodesIn(JSON.parse(String(rows[0]?.[1]))).flatMap((node) => scanAt(mirror, node) ?? []);
  } catch {
    return undefined;
  }
}

interface PlanNode {
  readonly name: string;
  readonly extra_info?: Readonly<Record<string, string | readonly string[]>>;
  readonly children?: readonly PlanNode[];
}

function nodesIn(nodes: readonly PlanNode[]): readonly PlanNode[] {
  return nodes.flatMap((node) => [node, ...nodesIn(node.children ?? [])]);
}

/** Undefined for other nodes, and for temporary tables: what those hold was read when they were made. */
function scanAt(mirror: Mirror, { name, extra_info: info = {} }: PlanNode): PlannedScan | undefined {
  const [, schema, table] = /^\w+\.(\w+)\."?([^"]+)"?$/.exec(String(info['Table'] ?? '')) ?? [];
  if (!name.trim().endsWith('SCAN') || schema === undefined || table === undefined) return undefined;
  const relation = schema === 'main' ? table : `${schema}.${table}`;
  const filters = listOf(info['Filters']);
  const words = new Set(filters.join(' ').match(/\w+/g));
  const filtered = mirror.table(relation)?.columns.filter((column) => words.has(column.name)) ?? [];
  const columns = new Set([...listOf(info['Projections']), ...filtered.map((column) => column.name)]);
  return { relation, columns, filters: filters.flatMap(conjunctsOf) };
}

function listOf(value: string | readonly string[] | undefined): readonly string[] {
  if (value === undefined || value === '') return [];
  return typeof value === 'string' ? [value] : value;
}

/** Splits a text at AND. One that has OR beside it stays whole. */
function conjunctsOf(text: string): readonly string[] {
  const parts: string[] = [];
  let [depth, from] = [0, 0];
  for (const { 0: token, index } of text.matchAll(/'(?:[^']|'')*'|"(?:[^"]|"")*"|[()]| AND | OR /g)) {
    if (token === '(') depth++;
    if (token === ')') depth--;
    if (depth > 0) continue;
    if (token === ' OR ') return [text];
    if (token !== ' AND ') continue;
    parts.push(text.slice(from, index));
    from = index + token.length;
  }
  return [...parts, text.slice(from)];
}

const UNITS = '_units';
const SEQNOS = ['mc_block_seqno', 'tx_mc_block_seqno'];
const LITERAL = `CAST\\((?:'[^']*'|-?\\d+) AS [A-Z ]+\\)|'[^']*'::[A-Z_ ]*[A-Z]|-?\\d+`;
/** Stands for a comparison in the text of a condition. */
const MARK = '§';
/** Expressions that differ at each evaluation, or name no column. */
const UNSTEADY = /#\d|\b(random|uuid|gen_random_uuid|nextval|setseed)\b|Dynamic Filter/i;

/** A condition on times, in SQL over {@link UNITS}. */
interface TimeCondition {
  readonly sql: string;
  /** True if it compares with constants alone, and so names the times that it is about. */
  readonly isPlain: boolean;
}

/**
 * A condition on rows of a table as one on times: true wherever it is true of a row of that time. Undefined if it says nothing of times. One
 * on `block_date` alone is as it is, whatever its form; those on others are widened, so they must be comparisons under AND and OR.
 */
function onTime(condition: string, table: TableDef): TimeCondition | undefined {
  const bounds = boundsOf(table);
  const text = condition
    .replace(/^optional: /i, '')
    .replace(/\bCAST\(block_time AS TIMESTAMP WITH TIME ZONE\)/g, 'block_time')
    .replace(/\bCAST\(block_time AS DATE\)|\bCAST\(date_trunc\('day', block_time\) AS DATE\)/g, 'block_date')
    .replace(/\bdate_trunc\('day', block_time\)/g, 'CAST(block_date AS TIMESTAMP)');
  const named = Object.keys(bounds).filter((name) => new RegExp(`\\b${name}\\b`).test(text));
  if (named.length === 0 || UNSTEADY.test(text)) return undefined;
  const isOfDays = named.every((name) => name === 'block_date');
  const column = `(\\bCAST\\(block_date AS TIMESTAMP\\)|\\b(?:${named.join('|')}))`;
  const comparison = new RegExp(
    `${column}\\s*(>=|<=|!=|=|>|<)\\s*(${LITERAL})|${column}\\s+IN\\s+\\(((?:(?:${LITERAL})(?:,\\s*)?)+)\\)`,
    'g',
  );
  const widened: string[] = [];
  const shape = text.replace(comparison, (_, name, operator, value, listed, values) => {
    const compared: readonly string[] = listed === undefined ? [value] : String(values).split(/,\s*/);
    const parts = compared.map((each) => widen(bounds[String(name ?? listed)], String(operator ?? '='), each));
    widened.push(`(${parts.join(' OR ')})`);
    return MARK;
  });
  const isPlain = /^(?:[\s()§]|AND\b|OR\b)*$/.test(shape);
  if (isOfDays) return { sql: text, isPlain };
  return isPlain ? { sql: shape.replaceAll(MARK, () => widened.shift() ?? 'true'), isPlain } : undefined;
}

type Bounds = readonly [low: string, high: string];

/** The least and the greatest value that a column has at a time of {@link UNITS}, by column. */
function boundsOf({ time, columns }: TableDef): Readonly<Record<string, Bounds>> {
  const has = (name: string): boolean => columns.some((column) => column.name === name);
  const dates: Readonly<Record<string, Bounds>> = has('block_date') ? { block_date: ['block_date', 'block_date'] } : {};
  // The times of a mart come from its select.
  if (time === undefined || !columns.some(({ name, origin }) => name === 'block_time' && origin.kind === 'time'))
    return dates;
  const seqnos = SEQNOS.filter(has).map((name): [string, Bounds] => [name, ['_first', '_last']]);
  return {
    ...dates,
    block_time: ['_from', '_to'],
    [time]: ['epoch(_from)', 'epoch(_to)'],
    ...Object.fromEntries(seqnos),
  };
}

function widen(bounds: Bounds = ['block_date', 'block_date'], operator: string, value: string): string {
  const [low, high] = bounds;
  if (operator === '=') return `(${low} <= ${value} AND ${high} >= ${value})`;
  if (operator === '!=') return `NOT (${low} = ${value} AND ${high} = ${value})`;
  return operator.startsWith('>') ? `${high} ${operator} ${value}` : `${low} ${operator} ${value}`;
}

/** Days that are distinguished, besides those of the warehouse. All time before them is one unit, and so is all time after them. */
const [EARLIEST, LATEST] = ['2019-11-01', '2040-01-01'];
const [BEFORE_ALL, AFTER_ALL] = [0, Date.UTC(2262, 0, 1) / 1000];
const MOST = Number.MAX_SAFE_INTEGER;

/** The times for which all of some conditions may hold; undefined if that is not known. */
async function periodsWith(
  mirror: Mirror,
  conditions: readonly TimeCondition[],
  times: readonly DayTime[],
): Promise<readonly Period[] | undefined> {
  const { database, made } = mirror;
  if (made.times !== times) await database.run(unitsOf(times));
  made.times = times;
  const known: TimeCondition[] = [];
  for (const condition of conditions) {
    // A condition with other columns cannot be evaluated for times.
    const isKnown = await database.query(`EXPLAIN SELECT 1 FROM ${UNITS} WHERE (${condition.sql})`).then(
      () => true,
      () => false,
    );
    if (isKnown) known.push(condition);
  }
  if (known.length === 0) return undefined;
  const where = known.map(({ sql }) => `coalesce((${sql}), true)`).join(' AND ');
  const { rows } = await database.query(
    `SELECT epoch(min(_from))::BIGINT, epoch(max(_to) + INTERVAL 1 MICROSECOND)::BIGINT FROM (
       SELECT *, count(*) FILTER (begins) OVER (ORDER BY _from) AS run FROM (
         SELECT *, coalesce(lag(_to) OVER (ORDER BY _from) + INTERVAL 1 MICROSECOND < _from, true) AS begins
         FROM ${UNITS} WHERE ${where}))
     GROUP BY run ORDER BY 1`,
  );
  const periods = rows.map(([from, to]) => ({
    from: Number(from) === BEFORE_ALL ? undefined : Number(from),
    to: Number(to) === AFTER_ALL ? undefined : Number(to),
  }));
  if (known.some(({ isPlain }) => isPlain)) return periods;
  // A function of days that holds at several times, such as their month, is about those between which there is something.
  if (periods.length === 1) return periods;
  const [first, last] = [times[0]?.from ?? BEFORE_ALL, times.at(-1)?.to ?? AFTER_ALL];
  return periods.filter(({ from, to }) => (from ?? first) < last && (to ?? last) > first);
}

/** The statement that creates the table of times: those of the warehouse, the rest of their days, and every other day. */
function unitsOf(times: readonly DayTime[]): string {
  const [first, last] = [times[0], times.at(-1)];
  const before = { first: 0, last: (first?.first ?? MOST) - 1 };
  const after = { first: (last?.last ?? -1) + 1, last: MOST };
  const between = { first: first?.first ?? 0, last: last?.last ?? MOST };
  const pieces = times.flatMap((each) => {
    const { date, from, to } = each;
    const start = dayStart(date);
    return [
      { date, low: start, high: from, ...(each === first ? before : between) },
      { date, low: from, high: to, first: each.first, last: each.last },
      { date, low: to, high: start + DAY, ...(each === last ? after : between) },
    ].filter(({ low, high }) => low < high);
  });
  const types = { date: 'DATE', low: 'BIGINT', high: 'BIGINT', first: 'BIGINT', last: 'BIGINT' };
  const list = `${quoteText(JSON.stringify(pieces))}, ${quoteText(JSON.stringify([types]))}`;
  const [isBefore, isAfter] = [`low < ${first?.from ?? BEFORE_ALL}`, `low > ${last?.from ?? BEFORE_ALL}`];
  const blocks = (['first', 'last'] as const).map(
    (end) => `CASE WHEN ${isBefore} THEN ${before[end]} WHEN ${isAfter} THEN ${after[end]} ELSE ${between[end]} END`,
  );
  return `CREATE OR REPLACE TEMP TABLE ${UNITS} AS
    WITH held AS (SELECT unnest(from_json(${list}), recursive := true)),
    days AS (SELECT d::DATE AS date, epoch(d)::BIGINT AS low, low + ${DAY} AS high
      FROM generate_series(least(TIMESTAMP '${EARLIEST}', (SELECT min(date) FROM held)),
        greatest(TIMESTAMP '${LATEST}', (SELECT max(date) FROM held)), INTERVAL 1 DAY) AS series(d)),
    times AS (
      FROM held UNION ALL SELECT *, ${blocks.join(', ')} FROM days ANTI JOIN held USING (date)
      UNION ALL SELECT DATE '1970-01-01', ${BEFORE_ALL}, min(low), ${before.first}, ${before.last} FROM days
      UNION ALL SELECT DATE '2261-12-31', max(high), ${AFTER_ALL}, ${after.first}, ${after.last} FROM days)
    SELECT date AS block_date, make_timestamp(low * 1000000) AS _from,
      make_timestamp(high * 1000000) - INTERVAL 1 MICROSECOND AS _to, first AS _first, last AS _last FROM times`;
}

/** SQL of a table's columns, without rows. */
export function emptyTable({ name, columns }: TableDef, schema = 'main'): string {
  const all = columns.map((column) => `${quoteName(column.name)} ${kinds[column.kind].sql}`);
  return `CREATE TABLE IF NOT EXISTS ${schema}.${quoteName(name)} (${all.join(', ')})`;
}
