import type { Query } from '../../sql/query-result.ts';
import { isNode, nodesOf, parseSql, type SqlNode } from '../../sql/sql-tree.ts';
import type { Period } from './coverage-gaps.ts';
import { isClock } from './sql-scans.ts';

const DAY = 86_400;
/** For a condition that is no plain comparison each day is asked of the years that it names, or that the warehouse holds. */
const MOST_DAYS = 20_000;

/**
 * The periods whose rows fulfil all of some conditions over `block_date` and `block_time`. A condition is asked of DuckDB for each moment
 * that it names and for one between each two of them, so that it may have any form.
 *
 * @param times first and last time of the warehouse
 * @returns undefined where DuckDB cannot tell
 */
export async function periodsOf(
  query: Query,
  filters: readonly SqlNode[],
  parameters: Readonly<Record<string, unknown>> | undefined,
  times: readonly number[],
): Promise<readonly Period[] | undefined> {
  try {
    const condition = { class: 'CONJUNCTION', type: 'CONJUNCTION_AND', alias: '', children: filters };
    const constants = nodesOf(filters).flatMap(constantsOf);
    const bound = boundIn([...filters, ...constants], parameters);
    const named = await momentsOf(query, constants, bound);
    const marks = marksOf(named, nodesOf(filters).some(isFunction) ? times : undefined);
    const samples = marks.flatMap((mark, at) => {
      const next = marks[at + 1];
      return next === undefined || next - mark < 2 ? [mark] : [mark, mark + Math.floor((next - mark) / 2)];
    });
    const [first, last] = [marks[0] ?? 0, marks.at(-1) ?? 0];
    const asked = [first - DAY, ...samples, last + DAY];
    const select = await textOf(query, 'SELECT moment FROM moments WHERE true', (node) => ({
      ...node,
      where_clause: condition,
    }));
    const { rows } = await query(
      `WITH moments AS (SELECT moment, make_timestamp(moment * 1000000) AS block_time, block_time::DATE AS block_date
        FROM (SELECT unnest([${asked.join(', ')}]::BIGINT[]) AS moment)) ${select}`,
      bound,
    );
    return periodsBetween(marks, new Set(rows.map(([at]) => Number(at))));
  } catch {
    return undefined;
  }
}

/** Joins what holds at marks and between them. */
function periodsBetween(marks: readonly number[], held: ReadonlySet<number>): readonly Period[] {
  const [first, last] = [marks[0] ?? 0, marks.at(-1) ?? 0];
  const parts: Period[] = held.has(first - DAY) ? [{ from: undefined, to: first }] : [];
  marks.forEach((mark, at) => {
    const next = marks[at + 1];
    if (held.has(mark)) parts.push({ from: mark, to: mark + 1 });
    if (next === undefined ? held.has(last + DAY) : next - mark > 1 && held.has(mark + Math.floor((next - mark) / 2))) {
      parts.push({ from: mark + 1, to: next });
    }
  });
  const joined: Period[] = [];
  for (const part of parts) {
    const before = joined.at(-1);
    if (before === undefined || before.to !== part.from) joined.push(part);
    else joined[joined.length - 1] = { from: before.from, to: part.to };
  }
  return joined;
}

/** The moments between which nothing changes, and the days that they lie in. */
function marksOf(named: readonly number[], times: readonly number[] | undefined): readonly number[] {
  const days = named.map((moment) => Math.floor(moment / DAY));
  const marks = new Set([...named, ...days.flatMap((day) => [day * DAY, (day + 1) * DAY])]);
  if (times !== undefined) {
    const all = [...days, ...times.map((time) => Math.floor(time / DAY))];
    const [from, to] = [yearStart(all, Math.min, 0), yearStart(all, Math.max, 1)];
    for (let day = Math.max(from, to - MOST_DAYS); day <= to; day++) marks.add(day * DAY);
  }
  return marks.size === 0 ? [0] : [...marks].sort((a, b) => a - b);
}

/** The first day of the year that the first or last of some days lies in, or of a later one. */
function yearStart(days: readonly number[], choose: (a: number, b: number) => number, more: number): number {
  const day = days.reduce((one, other) => choose(one, other), days[0] ?? 0);
  return Date.UTC(new Date(day * DAY * 1000).getUTCFullYear() + more) / 1000 / DAY;
}

/** What a comparison compares a day or a time with. */
function constantsOf(node: SqlNode): readonly SqlNode[] {
  const isComparison = ['COMPARISON', 'BETWEEN', 'OPERATOR'].includes(String(node['class']));
  if (!isComparison) return [];
  const sides = [node['left'], node['right'], node['input'], node['lower'], node['upper'], node['children']].flat();
  return sides.filter(isNode).filter((side) => !hasColumn(side) && side['class'] !== 'COMPARISON');
}

/** Whether a condition asks a function of a day or time: the moments that it names are not all that matters. */
function isFunction(node: SqlNode): boolean {
  return node['class'] === 'FUNCTION' && hasColumn(node);
}

function hasColumn(node: SqlNode): boolean {
  if (node['class'] === 'SUBQUERY' || isClock(node)) return false;
  return node['class'] === 'COLUMN_REF' || Object.values(node).flat().filter(isNode).some(hasColumn);
}

async function momentsOf(
  query: Query,
  constants: readonly SqlNode[],
  bound: Readonly<Record<string, unknown>> | undefined,
): Promise<readonly number[]> {
  if (constants.length === 0) return [];
  const select = await textOf(query, 'SELECT 1', (node) => ({
    ...node,
    select_list: constants.map((constant, at) => ({ ...constant, alias: `c${at}` })),
  }));
  const seconds = constants.map((_, at) => `epoch(TRY_CAST(c${at}::VARCHAR AS TIMESTAMP))`);
  const { rows } = await query(`SELECT ${seconds.join(', ')} FROM (${select})`, bound);
  return (rows[0] ?? []).flatMap((value) => {
    const moment = Number(value);
    return value === null || !Number.isFinite(moment) ? [] : [...new Set([Math.floor(moment), Math.ceil(moment)])];
  });
}

/** The text of a select whose tree is changed. */
async function textOf(query: Query, sql: string, change: (node: SqlNode) => SqlNode): Promise<string> {
  const parsed = await parseSql(query, sql);
  const [statement] = 'fault' in parsed ? [] : parsed.statements;
  const node = isNode(statement) && isNode(statement['node']) ? statement['node'] : {};
  const tree = { error: false, statements: [{ ...(isNode(statement) ? statement : {}), node: change(node) }] };
  const { rows } = await query('SELECT json_deserialize_sql($tree::JSON)', {
    tree: JSON.stringify(tree, withoutPlaces),
  });
  return String(rows[0]?.[0]);
}

/** DuckDB's mark of no place is above what a number of JSON.parse can hold. */
function withoutPlaces(key: string, value: unknown): unknown {
  return key === 'query_location' ? 0 : value;
}

/** The values that some trees name: DuckDB takes no others. */
function boundIn(
  trees: readonly SqlNode[],
  parameters: Readonly<Record<string, unknown>> | undefined,
): Readonly<Record<string, unknown>> | undefined {
  const names = new Set(
    nodesOf(trees).flatMap((node) => (node['class'] === 'PARAMETER' ? [String(node['identifier'])] : [])),
  );
  const used = Object.entries(parameters ?? {}).filter(([name]) => names.has(name));
  return used.length === 0 ? undefined : Object.fromEntries(used);
}
