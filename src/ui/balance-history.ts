import type { TableDef } from '../declare/table.ts';
import { quoteName, quoteText } from '../sql/canonical-text.ts';
import { textOf } from '../sql/row-text.ts';
import type { OpenWarehouse } from '../warehouse/query/warehouse-registry.ts';
import { findTable } from './shared-reader.ts';
import type { BalanceHistory } from './ui-types.ts';

/** Maximum number of points; more balances are thinned out evenly. */
const MAX_POINTS = 1_000;

/** The balances of an account after its transactions; null if no table of the warehouse has them. */
export async function readBalances(opened: OpenWarehouse, account: string): Promise<BalanceHistory | null> {
  const table = await findTable(opened, hasBalances);
  if (table === undefined) return null;
  const order = table.sort.map(quoteName).join(', ');
  const { rows } = await opened.reader.query(
    `WITH own AS (
      SELECT block_time, balance, row_number() OVER (ORDER BY ${order}) AS place, count(*) OVER () AS total
      FROM ${quoteName(table.name)} WHERE account = ${quoteText(account)} AND balance IS NOT NULL)
    SELECT block_time::VARCHAR, ton(balance)::VARCHAR, total::DOUBLE FROM own
    WHERE place = 1 OR place = total OR place % ceil(total / ${MAX_POINTS}.0)::BIGINT = 0 ORDER BY place`,
  );
  return {
    table: table.name,
    count: Number(rows[0]?.[2] ?? 0),
    points: rows.map(([time, ton]) => ({ time: textOf(time) ?? '', ton: textOf(ton) ?? '' })),
  };
}

/** True if a table has a row for each state of an account, with its time and balance. */
function hasBalances({ columns, time, key }: TableDef): boolean {
  const balance = columns.find(({ name }) => name === 'balance');
  return time !== undefined && key.includes('account') && balance?.unit === 'nanoton';
}
