import { quoteName } from '../sql/canonical-text.ts';
import { isNumberType } from '../sql/number-type.ts';
import type { Query } from '../sql/query-result.ts';
import { textOf } from '../sql/row-text.ts';
import type { ColumnProfile } from './ui-types.ts';

/** Ranges of a histogram. */
const BARS = 24;
/** Most frequent values that are shown. */
const TOP = 6;
/** With more distinct values, the most frequent ones mean little and are slow to count. */
const MAX_DISTINCT = 100_000;

/** Statistics of one column: nulls, distinct values, range and distribution. */
export async function profileColumn(
  query: Query,
  relation: string,
  column: string,
  type: string,
): Promise<ColumnProfile> {
  const [from, name] = [quoteName(relation), quoteName(column)];
  const isOrdered = !/[[(]|STRUCT|MAP|UNION|JSON/.test(type.replace(/^DECIMAL\([^)]*\)$/, 'DECIMAL'));
  const range = isOrdered ? `min(${name})::VARCHAR, max(${name})::VARCHAR` : 'NULL, NULL';
  const { rows: counted } = await query(
    `SELECT count(*)::DOUBLE, (count(*) - count(${name}))::DOUBLE, approx_count_distinct(${name})::DOUBLE, ${range} FROM ${from}`,
  );
  const [rows, nulls, distinct, least, most] = counted[0] ?? [];
  const place = placeSql(name, type);
  const isSpread = place !== undefined && least !== most && Number(distinct) > TOP;
  const bars = isSpread
    ? await spread(query, from, place)
    : isOrdered && Number(distinct) <= MAX_DISTINCT
      ? await frequent(query, from, name)
      : [];
  return {
    rows: Number(rows),
    nulls: Number(nulls),
    distinct: Math.min(Number(distinct), Number(rows) - Number(nulls)),
    least: textOf(least) ?? null,
    most: textOf(most) ?? null,
    bars,
  };
}

/** SQL for the position of a value on an axis; undefined for types without one. */
function placeSql(name: string, type: string): string | undefined {
  if (isNumberType(type)) return `${name}::DOUBLE`;
  return /^(TIMESTAMP|DATE)/.test(type) ? `epoch(${name}::TIMESTAMP)` : undefined;
}

async function spread(query: Query, from: string, place: string): Promise<ColumnProfile['bars']> {
  const { rows } = await query(
    `WITH places AS (SELECT ${place} AS place FROM ${from}), ends AS (SELECT min(place) AS a, max(place) AS b FROM places)
    SELECT least(${BARS - 1}, floor((place - a) / (b - a) * ${BARS}))::INTEGER AS bar, count(*)::DOUBLE
    FROM places, ends WHERE place IS NOT NULL GROUP BY bar`,
  );
  const counts = new Map(rows.map(([bar, count]) => [Number(bar), Number(count)]));
  return Array.from({ length: BARS }, (_, at) => ({ label: '', count: counts.get(at) ?? 0 }));
}

async function frequent(query: Query, from: string, name: string): Promise<ColumnProfile['bars']> {
  const { rows } = await query(
    `SELECT ${name}::VARCHAR, count(*)::DOUBLE FROM ${from} WHERE ${name} IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ${TOP}`,
  );
  return rows.map(([label, count]) => ({ label: textOf(label) ?? '', count: Number(count) }));
}
