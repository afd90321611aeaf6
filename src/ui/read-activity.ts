import type { TableDef } from '../declare/table.ts';
import { quoteName } from '../sql/canonical-text.ts';
import type { OpenWarehouse } from '../warehouse/query/warehouse-registry.ts';
import { findTable } from './shared-reader.ts';
import { cellsOf } from './table-routes.ts';
import type { Activity } from './ui-types.ts';

/** Points of a chart at most. */
const MAX_POINTS = 200;

const UNITS = [
  { unit: 'second', ms: 1000 },
  { unit: 'minute', ms: 60_000 },
  { unit: 'hour', ms: 3_600_000 },
  { unit: 'day', ms: 86_400_000 },
] as const;

/** Transactions by the headers, and their fees, in each whole second, minute, hour or day of the newest blocks; null without any. */
export async function readActivity(opened: OpenWarehouse): Promise<Activity | null> {
  const { query } = opened.reader;
  const ends = await query(
    'SELECT epoch_ms(min(block_time)), epoch_ms(max(block_time)) FROM _headers WHERE workchain = -1',
  );
  const [first, last] = (ends.rows[0] ?? []).map(Number);
  if (first === undefined || last === undefined || last === 0) return null;
  const { unit, ms } = UNITS.find((each) => (last - first) / each.ms <= MAX_POINTS) ?? UNITS[3];
  const end = Math.floor(last / ms) * ms;
  const start = Math.max(Math.ceil(first / ms) * ms, end - MAX_POINTS * ms);
  if (end - start < 2 * ms) return null;
  const [from, to] = [start, end].map((at) => new Date(at).toISOString().slice(0, 19));
  const within = `block_date BETWEEN '${from}'::DATE AND '${to}'::DATE AND block_time >= '${from}'::TIMESTAMP AND block_time < '${to}'::TIMESTAMP`;
  const byTime = (sum: string, relation: string): string =>
    `SELECT time_bucket(INTERVAL 1 ${unit}, block_time) AS time, ${sum} FROM ${relation} WHERE ${within} GROUP BY ALL`;
  const fees = (await findTable(opened, hasFees))?.name;
  const { rows } = await query(
    fees === undefined
      ? `SELECT *, NULL FROM (${byTime('sum(tx_count)', '_headers')}) ORDER BY 1`
      : `SELECT time, transactions, fees FROM (${byTime('sum(tx_count) AS transactions', '_headers')})
        LEFT JOIN (${byTime('ton(sum(total_fees)) AS fees', quoteName(fees))}) USING (time) ORDER BY 1`,
  );
  return { unit, fees: fees ?? null, points: rows.map(cellsOf) };
}

function hasFees({ columns }: TableDef): boolean {
  return columns.some(({ name, unit }) => name === 'total_fees' && unit === 'nanoton');
}
