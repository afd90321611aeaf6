import { beforeAll, describe, expect, test } from 'vitest';
import { buildMarts } from '../../src/marts/build-marts.ts';
import { renderReport } from '../../src/reports/render-report.ts';
import { Database } from '../../src/sql/database.ts';
import { declaredMacros } from '../../src/warehouse/relations/macros.ts';
import { openWarehouse } from '../open-warehouse.ts';
import { everything, exportSandbox } from './support.ts';

const NEW = [
  ...['gas_by_opcode_daily', 'gas_by_code_daily', 'nft_sales_daily', 'dex_volumes_daily'],
  ...['jetton_changes_daily', 'jetton_holders_daily', 'active_accounts_daily', 'messages_by_opcode_daily'],
];
let warehouse: string;

beforeAll(async () => {
  warehouse = await exportSandbox('4600:5010', [...everything, 'token_metadata']);
  await buildMarts(warehouse, { names: NEW });
});

async function rowsOf(sql: string): Promise<readonly unknown[]> {
  const reader = await openWarehouse(warehouse);
  try {
    const { rows } = await reader.query(sql);
    return rows.map((row) =>
      row.map((value) => (value === null || typeof value === 'boolean' ? value : String(value))),
    );
  } finally {
    await reader.close();
  }
}

/** Rows of a mart on a day, and the same recomputed from tables, by other SQL. */
const recomputed: readonly (readonly [mart: string, columns: string, day: string, raw: string])[] = [
  [
    'gas_by_opcode_daily',
    'opcode, tx_count, failed_count, gas_used, total_fees',
    '2026-05-02',
    `SELECT m.opcode, count(*), sum(t.aborted::INTEGER), coalesce(sum(if(t.compute_gas_used = 0, t.compute_gas_fees, t.compute_gas_used)), 0), sum(t.total_fees)
     FROM transactions t LEFT JOIN messages m ON m.tx_hash = t.hash AND m.direction = 'in' WHERE t.block_date = DATE '2026-05-02' GROUP BY m.opcode`,
  ],
  [
    'gas_by_code_daily',
    'code_hash, account_count, tx_count, gas_used, total_fees',
    '2026-05-01',
    `SELECT coalesce(account_state_code_hash_before, account_state_code_hash_after) AS code, count(DISTINCT account), count(*),
       coalesce(sum(if(compute_gas_used = 0, compute_gas_fees, compute_gas_used)), 0), sum(total_fees) FROM transactions WHERE block_date = DATE '2026-05-01' GROUP BY 1`,
  ],
  [
    'jetton_changes_daily',
    'jetton_master, owner, event_count',
    '2026-05-01',
    `SELECT jetton, owner, count(*) FROM (
       SELECT jetton_master AS jetton, unnest([source, destination]) AS owner FROM jetton_transfers WHERE NOT tx_aborted AND block_date = DATE '2026-05-01'
       UNION ALL SELECT jetton_master, owner FROM jetton_burns WHERE NOT tx_aborted AND block_date = DATE '2026-05-01'
       UNION ALL SELECT asset, receiver FROM actions WHERE type = 'jetton_mint' AND success AND block_date = DATE '2026-05-01')
     WHERE owner IS NOT NULL AND jetton IS NOT NULL GROUP BY ALL`,
  ],
  [
    'dex_volumes_daily',
    'project, pool_address, token_0, token_1, swap_count, raw_volume_0',
    '2026-05-01',
    `SELECT regexp_replace(dex, '_v[0-9]+$', ''), pool, least(a, b), greatest(a, b), count(*),
       sum(CASE WHEN a <= b THEN swap_amount_in ELSE swap_amount_out END)
     FROM (SELECT *, coalesce(asset_in, '0:' || repeat('0', 64)) AS a, coalesce(asset_out, '0:' || repeat('0', 64)) AS b FROM actions)
     WHERE type = 'jetton_swap' AND success AND block_date = DATE '2026-05-01' GROUP BY ALL`,
  ],
  [
    'nft_sales_daily',
    'collection_address, sale_count, floor_price, top_price',
    '2026-05-01',
    `SELECT nft_collection, count(*), min(price), max(price) FROM actions
     WHERE type IN ('nft_transfer', 'nft_purchase', 'dns_purchase') AND is_purchase AND success AND price IS NOT NULL AND block_date = DATE '2026-05-01' GROUP BY 1`,
  ],
  [
    'active_accounts_daily',
    'active_accounts, new_accounts, returning_accounts',
    '2026-05-01',
    `SELECT count(*), count(*) FILTER (first), count(*) FILTER (NOT first) FROM
     (SELECT account, bool_or(prev_trans_lt = 0) AS first FROM transactions WHERE block_date = DATE '2026-05-01' GROUP BY 1)`,
  ],
];

describe('a day of a mart is that of the tables', () => {
  test.each(recomputed)('%s', async (mart, columns, day, raw) => {
    const rows = await rowsOf(`SELECT ${columns} FROM ${mart} WHERE block_date = DATE '${day}' ORDER BY ALL`);
    expect(rows).toEqual(await rowsOf(`SELECT * FROM (${raw}) ORDER BY ALL`));
    expect(rows).not.toEqual([]);
  });

  test('jetton_holders_daily: the last day has the holders of the snapshot, and a day before those without its changes', async () => {
    const last = await rowsOf(
      `SELECT jetton_master, arg_max(holder_count, block_date) FROM jetton_holders_daily GROUP BY 1 ORDER BY 1`,
    );
    expect(last).toEqual(
      await rowsOf(`SELECT jetton, count(*) FILTER (amount > 0) FROM (SELECT jetton, owner, try_exact_sum(balance_decimal) AS amount FROM jetton_wallets_now GROUP BY ALL)
        WHERE jetton IN (SELECT jetton_master FROM jetton_holders_daily) GROUP BY 1 ORDER BY 1`),
    );
    const moved =
      await rowsOf(`SELECT a.jetton_master, b.holder_count - a.holder_count, b.joined_count - b.left_count FROM jetton_holders_daily a
      JOIN jetton_holders_daily b ON a.jetton_master = b.jetton_master AND b.block_date = a.block_date + 1`);
    expect(moved.length).toBeGreaterThan(0);
    for (const [, change, told] of moved as readonly string[][]) expect(change).toBe(told);
  });
});

test('amounts in tokens keep all digits, and those that do not fit are null', async () => {
  const database = await Database.open(':memory:');
  for (const { statement } of declaredMacros()) await database.run(statement());
  const { rows } = await database.query(
    `SELECT in_tokens(1500000, 6)::VARCHAR, in_tokens(1::DECIMAL(38,0), 9)::VARCHAR, in_tokens(123456789012, 12)::VARCHAR, in_tokens(5, 0)::VARCHAR,
      in_tokens(99999999999999999999999999999999999999::DECIMAL(38,0), 0)::VARCHAR`,
  );
  database.close();
  expect(rows).toEqual([['1.500000000', '0.000000001', '0.123456789', '5.000000000', null]]);
});

test('a report names and counts the opcodes of a day as the mart does', async () => {
  const params = { from: '2026-05-01', to: '2026-05-01' };
  const { content } = await renderReport(warehouse, 'network-daily', { format: 'json', params });
  const { rows } = JSON.parse(content).blocks.messages_by_opcode;
  const ofMart = await rowsOf(`SELECT coalesce(opcode_name, opcode_hex(opcode), 'no opcode') AS name, message_count
    FROM messages_by_opcode_daily WHERE block_date = DATE '2026-05-01' AND direction = 'in' ORDER BY message_count DESC, name LIMIT 15`);
  expect(rows.length).toBeGreaterThan(5);
  expect(rows.map(({ opcode, messages }: Record<string, unknown>) => [opcode, String(messages)])).toEqual(ofMart);
});
