import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildMarts } from '../../src/marts/build-marts.ts';
import { renderReport } from '../../src/reports/render-report.ts';
import { Database } from '../../src/sql/database.ts';
import { shippedFolder, shippedNames } from '../../src/sql/shipped-queries.ts';
import { declaredMacros } from '../../src/warehouse/relations/macros.ts';
import { tonlake } from '../cli.ts';
import { openWarehouse } from '../open-warehouse.ts';
import { freshFolder } from '../scratch.ts';
import { copyOf, damage, everything, exportSandbox } from './support.ts';

const NEW = [
  ...['gas_by_opcode_daily', 'gas_by_code_daily', 'nft_sales_daily', 'dex_volumes_daily'],
  ...['jetton_changes_daily', 'jetton_holders_daily', 'active_accounts_daily', 'messages_by_opcode_daily'],
];
const questions = await shippedNames('questions');

const path = join(freshFolder(), 'w.duckdb');
const warehouse = await exportSandbox('4600:5010', [...everything, 'token_metadata'], path);
const huge = await copyOf(warehouse);
await buildMarts(warehouse, { names: NEW });

async function rowsOf(sql: string, path = warehouse): Promise<readonly (readonly unknown[])[]> {
  const reader = await openWarehouse(path);
  try {
    const { rows } = await reader.query(sql);
    return rows.map((row) =>
      row.map((value) => (value === null || typeof value === 'boolean' ? value : String(value))),
    );
  } finally {
    await reader.close();
  }
}

/** The pool of a swap, by the one message of its trace with which pools pay. */
const POOL = `(SELECT CASE WHEN count(*) = 1 THEN min(source) END FROM messages WHERE messages.trace_id = swap.trace_id
  AND direction = 'in' AND opcode_hex(opcode) IN ('0xf93bb43f', '0x657b54f5', '0xad4eb6f5', '0xa1daa96d'))`;

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
    `SELECT regexp_replace(dex, '_v[0-9]+$', ''), ${POOL}, least(a, b), greatest(a, b), count(*),
       sum(CASE WHEN a <= b THEN swap_amount_in ELSE swap_amount_out END)
     FROM (SELECT *, coalesce(asset_in, '0:' || repeat('0', 64)) AS a, coalesce(asset_out, '0:' || repeat('0', 64)) AS b FROM actions) swap
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

/** Sums of a mart, and the rows whose amounts they add: the mart's key, then one amount for each sum. */
const sums: readonly (readonly [mart: string, key: string, amounts: string, rows: string])[] = [
  [
    ...(['gas_fees_daily', 'block_date', 'total_fees, storage_fees, compute_fees, gas_used'] as const),
    'SELECT block_date, total_fees, storage_fees_collected, compute_gas_fees, compute_gas_used FROM transactions',
  ],
  ['gas_fees_daily', 'block_date', 'fwd_fees', "SELECT block_date, fwd_fee FROM messages WHERE direction = 'out'"],
  [
    ...(['gas_by_opcode_daily', 'block_date, opcode', 'gas_used, compute_fees, total_fees'] as const),
    `SELECT t.block_date, opcode, compute_gas_used, compute_gas_fees, total_fees
     FROM transactions t LEFT JOIN messages m ON m.tx_hash = t.hash AND m.direction = 'in'`,
  ],
  [
    ...(['gas_by_code_daily', 'block_date, code_hash', 'gas_used, total_fees'] as const),
    'SELECT block_date, coalesce(account_state_code_hash_before, account_state_code_hash_after), compute_gas_used, total_fees FROM transactions',
  ],
  [
    ...([
      'failed_transactions_daily',
      'block_date, phase, skipped_reason, compute_exit_code, action_result_code',
    ] as const),
    'total_fees',
    `SELECT block_date, CASE WHEN compute_skipped THEN 'skipped' WHEN compute_success THEN 'action' ELSE 'compute' END, skipped_reason,
     compute_exit_code, action_result_code, total_fees FROM transactions WHERE descr = 'ord' AND (aborted OR NOT compute_success OR NOT action_success)`,
  ],
  [
    ...(['top_contracts_daily', 'block_date, account', 'gas_used, total_fees'] as const),
    `SELECT block_date, account, compute_gas_used, total_fees FROM transactions
     WHERE (block_date, account) IN (SELECT (block_date, account) FROM top_contracts_daily)`,
  ],
  [
    ...(['messages_by_opcode_daily', 'block_date, direction, opcode', 'value'] as const),
    'SELECT block_date, direction, opcode, value FROM messages',
  ],
  [
    ...(['nft_sales_daily', 'block_date, collection_address', 'volume'] as const),
    'SELECT block_date, nft_collection, price FROM actions WHERE is_purchase AND success AND price IS NOT NULL',
  ],
  [
    ...(['jetton_volumes_daily', 'block_date, jetton_master', 'amount'] as const),
    'SELECT block_date, jetton_master, amount FROM jetton_transfers WHERE NOT tx_aborted',
  ],
  [
    ...(['jetton_changes_daily', 'block_date, jetton_master, owner', 'received, sent'] as const),
    `FROM (SELECT block_date, jetton_master, source AS owner, 0, amount FROM jetton_transfers WHERE NOT tx_aborted
     UNION ALL SELECT block_date, jetton_master, destination, amount, 0 FROM jetton_transfers WHERE NOT tx_aborted
     UNION ALL SELECT block_date, jetton_master, owner, 0, amount FROM jetton_burns WHERE NOT tx_aborted
     UNION ALL SELECT block_date, asset, receiver, amount, 0 FROM actions WHERE type = 'jetton_mint' AND success)
     WHERE owner IS NOT NULL AND jetton_master IS NOT NULL`,
  ],
  [
    ...(['dex_volumes_daily', 'block_date, pool_address, token_0, token_1', 'raw_volume_0, raw_volume_1'] as const),
    `SELECT block_date, ${POOL}, least(a, b), greatest(a, b), if(a <= b, swap_amount_in, swap_amount_out), if(a <= b, swap_amount_out, swap_amount_in)
     FROM (SELECT *, coalesce(asset_in, '0:' || repeat('0', 64)) AS a, coalesce(asset_out, '0:' || repeat('0', 64)) AS b FROM actions
       WHERE type = 'jetton_swap' AND success) swap`,
  ],
];

/** The greatest number of a column of nanotons, and one of which ten have more than 38 digits. */
const NANOTONS = 2n ** 63n - 1n;
const TOKENS = 10n ** 37n;

describe('where single amounts are the greatest that a column takes', () => {
  beforeAll(async () => {
    await damage(
      huge,
      `UPDATE _rows.transactions SET total_fees = ${NANOTONS}, storage_fees_collected = ${NANOTONS}, compute_gas_fees = ${NANOTONS}, compute_gas_used = ${NANOTONS}`,
      `UPDATE _rows.messages SET value = ${NANOTONS}, fwd_fee = ${NANOTONS}`,
      `UPDATE _rows.actions SET amount = ${TOKENS}, swap_amount_in = ${TOKENS}, swap_amount_out = ${TOKENS} - 1, price = ${NANOTONS} + 0 * price`,
      ...['jetton_transfers', 'jetton_burns'].map((table) => `UPDATE _rows.${table} SET amount = ${TOKENS}`),
    );
    await buildMarts(huge, {});
  });

  test.each(sums)('%s, by %s: %s', async (mart, key, amounts, raw) => {
    const keys = key.split(',').length;
    const totals = new Map<string, bigint[]>();
    for (const row of await rowsOf(raw, huge)) {
      const group = totals.get(String(row.slice(0, keys))) ?? amounts.split(',').map(() => 0n);
      totals.set(
        String(row.slice(0, keys)),
        group.map((sum, i) => sum + BigInt(String(row[keys + i] ?? 0))),
      );
    }
    const rows = await rowsOf(`SELECT ${key}, ${amounts} FROM ${mart}`, huge);
    const told = rows.map((row) => [String(row.slice(0, keys)), row.slice(keys)] as const);
    const fits = (sum: bigint) => (sum < 10n ** 38n ? String(sum) : null);
    expect(new Map(told)).toEqual(new Map([...totals].map(([group, added]) => [group, added.map(fits)])));
    expect(told).toHaveLength(totals.size);
    expect([...totals.values()].flat().some((sum) => sum > 2n ** 64n)).toBe(true);
  });

  test.each(questions)('the question %s does not overflow', async (name) => {
    const sql = await readFile(join(shippedFolder('questions'), `${name}.sql`), 'utf8');
    const { code, stderr } = await tonlake(['sql', '--warehouse', huge, sql]);
    expect(code, stderr).toBe(0);
  });

  test('a block shows the sum of its fees', async () => {
    const { stdout, stderr } = await tonlake(['show', '5005', '--warehouse', huge]);
    expect(stderr).toBe('');
    const [[fees]] = (await rowsOf('SELECT sum(total_fees) FROM transactions WHERE mc_block_seqno = 5005', huge)) as [
      [string],
    ];
    expect(BigInt(fees)).toBeGreaterThan(2n ** 64n);
    expect(stdout).toContain(`${fees.slice(0, -9)}.${fees.slice(-9)}`);
  });
});

test('a swap has the pool that paid on the day before its trace ended', async () => {
  const path = await copyOf(warehouse);
  const dayLater = "UPDATE _rows.actions SET block_date = block_date + 1 WHERE type = 'jetton_swap'";
  await damage(path, `${dayLater} AND block_date = DATE '2026-05-01'`);
  await buildMarts(path, { names: ['dex_swaps'], full: true });
  const swaps =
    "SELECT count(*) > 10, count(*) - count(pool_address) FROM dex_swaps WHERE block_date = DATE '2026-05-02'";
  expect(await rowsOf(swaps, path)).toEqual([[true, '0']]);
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
