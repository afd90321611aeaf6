import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { Database } from '../../src/sql/database.ts';
import { shippedFolder } from '../../src/sql/shipped-queries.ts';
import { declaredMacros } from '../../src/warehouse/relations/macros.ts';
import { marts } from './support.ts';

let database: Database;

beforeEach(async () => {
  database?.close();
  database = await Database.open();
  for (const { statement } of declaredMacros()) await database.run(await statement());
});
afterAll(() => database.close());

/** A table of literal rows. @param columns names, each with its type */
async function table(name: string, columns: string, ...rows: readonly string[]): Promise<void> {
  await database.run(`CREATE TABLE ${name} (${columns})`);
  for (const row of rows) await database.run(`INSERT INTO ${name} VALUES (${row})`);
}

async function texts(sql: string): Promise<readonly (readonly unknown[])[]> {
  const { rows } = await database.query(sql);
  return rows.map((row) => row.map((value) => (value === null ? null : String(value))));
}

/** Rows of the select of a mart over the tables. */
function selected(name: string, columns: string): Promise<readonly (readonly unknown[])[]> {
  const mart = marts.find((each) => each.name === name);
  return texts(`SELECT ${columns} FROM (${mart?.file.sql}) ORDER BY ALL`);
}

test('jetton_changes_daily: an order of which the server does not say whether it failed counts', async () => {
  const columns =
    'block_date DATE, jetton_master TEXT, source TEXT, destination TEXT, amount DECIMAL(38,0), tx_aborted BOOLEAN';
  await table(
    'jetton_transfers',
    columns,
    "'2026-05-01', 'J', 'A', 'B', 5, NULL",
    "'2026-05-01', 'J', 'A', 'B', 7, true",
  );
  await table('jetton_burns', columns.replace('source TEXT, destination', 'owner'), "'2026-05-01', 'J', 'B', 2, NULL");
  await table(
    'actions',
    'block_date DATE, asset TEXT, receiver TEXT, amount DECIMAL(38,0), type TEXT, success BOOLEAN',
  );
  expect(await selected('jetton_changes_daily', 'owner, received, sent, change, event_count')).toEqual([
    ['A', '0', '5', '-5', '1'],
    ['B', '5', '2', '3', '2'],
  ]);
});

test('block_times: blocks on both sides of a split, of a merge, or of missing blocks are not consecutive', async () => {
  const block = (workchain: number, shard: number, seqno: number, utime: number) =>
    `'2026-05-01', ${workchain}, ${shard}, ${seqno}, ${utime}, 1, ${seqno}`;
  await table(
    'blocks',
    'block_date DATE, workchain INTEGER, shard BIGINT, seqno INTEGER, gen_utime BIGINT, tx_count INTEGER, mc_block_seqno INTEGER',
    ...[block(-1, 0, 1, 0), block(-1, 0, 2, 3), block(-1, 0, 9, 90)],
    ...[
      block(0, 8, 1, 0),
      block(0, 8, 2, 2),
      block(0, 4, 3, 4),
      block(0, 4, 4, 5),
      block(0, 8, 6, 100),
      block(0, 8, 7, 101),
    ],
  );
  const columns = 'workchain, block_count, mean_interval_ms, median_interval, longest_interval';
  expect(await selected('block_times', columns)).toEqual([
    ['-1', '3', '3000', '3', '3'],
    ['0', '6', '1333', '1', '2'],
  ]);
});

describe('jetton_holders_daily', () => {
  const readings = 'address TEXT, jetton TEXT, owner TEXT, balance_decimal DECIMAL(38,0), _read_at TIMESTAMP';
  const changes = 'block_date DATE, jetton_master TEXT, owner TEXT, change DECIMAL(38,0)';
  const columns = 'block_date, holder_count, joined_count, left_count, amount';

  test('counts changes back to the reading of the wallets, and on from it', async () => {
    await table(
      'jetton_wallets',
      readings,
      "'a', 'J', 'A', 100, '2026-05-03 12:00:00'",
      "'b', 'J', 'B', 0, '2026-05-03 12:00:00'",
    );
    await table(
      'jetton_changes_daily',
      changes,
      ...[
        "'2026-05-02', 'J', 'A', 40",
        "'2026-05-03', 'J', 'A', 60",
        "'2026-05-04', 'J', 'A', -30",
        "'2026-05-04', 'J', 'B', 30",
      ],
      ...["'2026-05-05', 'J', 'A', -70", "'2026-05-05', 'J', 'C', 70"],
    );
    expect(await selected('jetton_holders_daily', columns)).toEqual([
      ['2026-05-02', '1', '1', '0', '40'],
      ['2026-05-03', '1', '0', '0', '100'],
      ['2026-05-04', '2', '1', '0', '100'],
      ['2026-05-05', '2', '1', '1', '100'],
    ]);
  });

  test('takes each wallet from its own last reading', async () => {
    await table(
      'jetton_wallets',
      readings,
      ...[
        "'a', 'J', 'A', 7, '2026-05-01 12:00:00'",
        "'a', 'J', 'A', 5, '2026-05-02 12:00:00'",
        "'b', 'J', 'B', 9, '2026-05-04 12:00:00'",
      ],
    );
    await table(
      'jetton_changes_daily',
      changes,
      "'2026-05-03', 'J', 'A', -5",
      "'2026-05-03', 'J', 'B', 5",
      "'2026-05-04', 'J', 'B', 4",
    );
    expect(await selected('jetton_holders_daily', columns)).toEqual([
      ['2026-05-03', '1', '1', '1', '5'],
      ['2026-05-04', '1', '0', '0', '9'],
    ]);
  });
});

describe('what a token or a sender makes up', () => {
  test('in_tokens is null for decimals that are no uint8, and rounds amounts down for many', async () => {
    expect(
      await texts(
        'SELECT d, in_tokens(1500000000::DECIMAL(38,0), d) FROM (VALUES (-2147483648), (-40), (-1), (0), (6), (18), (255), (256), (NULL)) AS t(d)',
      ),
    ).toEqual([
      ['-2147483648', null],
      ['-40', null],
      ['-1', null],
      ['0', '1500000000.000000000'],
      ['6', '1500.000000000'],
      ['18', '0.000000001'],
      ['255', '0.000000000'],
      ['256', null],
      [null, null],
    ]);
    expect(await texts('SELECT in_tokens(5, -40), in_tokens(5, 9223372036854775807)')).toEqual([[null, null]]);
  });

  test.each([
    ['without a query id and amount', '178D4519', null],
    ['cut in the amount', '178D451900000000000000017', null],
    ['that is whole', '178D45190000000000000001205DC0', '1500'],
  ])('ton.jetton_events has the mint of a body %s', async (_what, digits, amount) => {
    const boc = `B5EE9C72410101010010000000${digits}`;
    const whole = boc.length % 2 === 0 ? boc : `${boc}0`;
    await table(
      'jetton_transfers',
      `tx_hash TEXT, tx_lt BIGINT, tx_now BIGINT, trace_id TEXT, tx_aborted BOOLEAN, query_id DECIMAL(20,0), amount DECIMAL(38,0),
       source TEXT, destination TEXT, jetton_wallet TEXT, jetton_master TEXT, response_destination TEXT, custom_payload BLOB,
       forward_ton_amount DECIMAL(38,0), forward_payload BLOB, comment TEXT, block_time TIMESTAMP, block_date DATE`,
    );
    await database.run('CREATE TABLE jetton_burns AS SELECT *, source AS owner FROM jetton_transfers');
    await table(
      'messages',
      'tx_hash TEXT, tx_lt BIGINT, trace_id TEXT, source TEXT, destination TEXT, direction TEXT, opcode INTEGER, body_boc BLOB, block_time TIMESTAMP, block_date DATE',
      `'T', 1, 'T', 'J', 'W', 'in', 395134233, from_hex('${whole}'), '2026-05-01', '2026-05-01'`,
    );
    await table(
      'transactions',
      'hash TEXT, now BIGINT, compute_exit_code INTEGER, action_result_code INTEGER, tx_now BIGINT, block_date DATE',
      "'T', 1, 7, NULL, 1, '2026-05-01'",
    );
    await table(
      'jetton_wallets',
      'address TEXT, owner TEXT, jetton TEXT, _read_at TIMESTAMP',
      "'W', 'O', 'J', '2026-05-02'",
    );
    const view = await readFile(join(shippedFolder('ton'), 'jetton_events.sql'), 'utf8');
    expect(await texts(`SELECT type, amount, tx_aborted FROM (${view})`)).toEqual([['mint', amount, 'true']]);
  });

  test('prices without bound leave a day of NFT sales without a volume, and the question with its rows', async () => {
    await table(
      'actions',
      'block_date DATE, nft_collection TEXT, nft_item TEXT, new_owner TEXT, price DECIMAL(38,0), is_purchase BOOLEAN, success BOOLEAN',
      ...[`'2026-05-01', 'C', 'a', 'A', ${'9'.repeat(38)}, true, true`, "'2026-05-01', 'C', 'b', 'A', 5, true, true"],
    );
    const mart = marts.find(({ name }) => name === 'nft_sales_daily');
    await database.run(`CREATE TABLE nft_sales_daily AS ${mart?.file.sql}`);
    const question = await readFile(join(shippedFolder('questions'), 'nft_sales.sql'), 'utf8');
    expect(await texts(`SELECT sale_count, volume, floor, top FROM (${question})`)).toEqual([
      ['2', null, '0.000000005', null],
    ]);
  });

  test('a bag of cells that ends early has no digits', async () => {
    for (const hex of ['B5EE9C72', 'B5EE9C7241', 'B5EE9C72C7FFFFFFFFFFFFFFFFFF']) {
      expect(await texts(`SELECT coalesce(_body_digits(from_hex('${hex}')), '')`)).toEqual([['']]);
    }
  });
});
