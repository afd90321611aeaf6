import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadRegistry } from '../../src/declare/registry.ts';
import { FOLLOW_PENDING } from '../../src/declare/walk.ts';
import { buildMarts, openWarehouse, readStatus, renderReport, run } from '../../src/index.ts';
import { Database } from '../../src/sql/database.ts';
import { forgetRange } from '../../src/verify/forget.ts';
import { openReader } from '../../src/warehouse/open-store.ts';
import { describeGap, periodGaps } from '../../src/warehouse/query/coverage-gaps.ts';
import { findGaps } from '../../src/warehouse/query/open-warehouse.ts';
import type { LedgerEntry } from '../../src/warehouse/store.ts';
import { tonlake } from '../cli.ts';
import { freshFolder } from '../scratch.ts';

/** Blocks of forty seconds of one day. */
let warehouse: string;
const HELD = 'only 2026-05-01 23:33:20 to 2026-05-01 23:33:59 is in the warehouse';
const PART = `transactions is not whole in 2026-05-01: ${HELD}`;

beforeAll(async () => {
  warehouse = join(freshFolder(), 'w');
  await run({ pipelines: ['transactions'], network: 'sandbox', range: '1000:1099', warehouse });
  await buildMarts(warehouse, { names: ['transactions_daily'] });
});

async function gapsOf(
  sql: string,
  parameters?: Readonly<Record<string, unknown>>,
  path = warehouse,
): Promise<readonly string[]> {
  const registry = await loadRegistry();
  const reader = await openReader(path, registry.tables);
  try {
    return await findGaps(reader, registry, { sql, parameters });
  } finally {
    await reader.close();
  }
}

describe('a table that was never exported is a gap', () => {
  test('and a query of it is refused with --strict', async () => {
    const query = ['sql', 'select count(*) from actions', '--warehouse', warehouse];
    const gap = /actions was never exported here: tonlake run .*actions/;
    const warned = await tonlake(query);
    expect([warned.code, warned.stderr]).toEqual([0, expect.stringMatching(gap)]);
    const strict = await tonlake([...query, '--strict']);
    expect(strict).toMatchObject({ code: 1, stdout: '' });
    expect(strict.stderr).toMatch(gap);
  });

  test.each([
    ['select * from Actions limit 1', ['actions was never exported here: tonlake run actions --range 1000:1099']],
    [
      'select (select max(lt) from jetton_burns)',
      ['jetton_burns was never exported here: tonlake run jetton_burns --range 1000:1099'],
    ],
    [
      'select * from jetton_wallets_now',
      ['jetton_wallets was never exported here: tonlake run jetton_wallets --range 1000:1099'],
    ],
    ['select * from pending_actions', [`pending_actions was never watched here: ${FOLLOW_PENDING}`]],
    ['with actions as (select 1) select * from actions', []],
    [
      'with blocks as (select * from actions) from blocks',
      ['actions was never exported here: tonlake run actions --range 1000:1099'],
    ],
    ['explain select * from actions', ['actions was never exported here: tonlake run actions --range 1000:1099']],
    ["copy (select * from transactions) to 'x.csv'", []],
    ["attach ':memory:' as other", []],
    [
      'create temp table mine as select * from actions; select * from mine',
      ['actions was never exported here: tonlake run actions --range 1000:1099'],
    ],
    ["select ';' from transactions -- ; from actions", []],
    ['describe actions', []],
    ['pivot transactions on account using count(*)', []],
  ])('%s', async (sql, gaps) => {
    expect(await gapsOf(sql)).toEqual(gaps);
  });
});

describe('a day that is not whole is a gap', () => {
  test('of a query that asks for it, which is refused with --strict', async () => {
    const query = [
      'sql',
      "select count(*) from transactions where block_date = '2026-05-01'",
      '--warehouse',
      warehouse,
    ];
    expect(await tonlake(query)).toMatchObject({ code: 0, stderr: `warning: ${PART}\n` });
    expect(await tonlake([...query, '--strict'])).toMatchObject({ code: 1, stdout: '' });
  });

  test.each([
    ['select count(*) from transactions'],
    [
      "select count(*) from transactions where block_time >= '2026-05-01 23:33:30' and block_time < '2026-05-01 23:33:50'",
    ],
    ["select count(*) from transactions where block_time = timestamp '2026-05-01 23:33:30'"],
    ["select count(*) from transactions where block_date < '2026-05-02' and block_date > '2026-05-02'"],
  ])('and none of %s', async (sql) => {
    expect(await gapsOf(sql)).toEqual([]);
  });

  test.each([
    ["select * from transactions where block_date in ('2026-05-01') and lt > 3"],
    ["select * from transactions where block_date <= '2026-05-01' and not block_date < '2026-05-01'"],
    ["select * from transactions where block_time::date = date '2026-05-02' - 1"],
    [
      "select * from transactions where date_trunc('day', block_time) = '2026-05-01' or account is null and block_date = '2026-05-01'",
    ],
    ['select * from transactions where block_date = (select max(block_date) from transactions)'],
    [
      "with d as (select block_time::date as day, * from transactions) select count(*) from d where day = date '2026-05-01'",
    ],
    ["select * from (select block_date, count(*) from transactions group by all) d where d.block_date = '2026-05-01'"],
    [
      "select * from transactions t join transactions u on t.hash = u.hash and u.block_date = '2026-05-01' where t.block_date = '2026-05-01'",
    ],
    ["select 1 union all select count(*) from transactions where block_date = '2026-05-01'"],
    ["explain select * from transactions where block_date = '2026-05-01'"],
  ])('of %s', async (sql) => {
    expect(await gapsOf(sql)).toEqual([PART]);
  });

  test('which a parameter names', async () => {
    const sql = 'select * from transactions where $day::date is null or block_date = $day';
    expect(await gapsOf(sql, { day: '2026-05-01' })).toEqual([PART]);
    expect(await gapsOf(sql, { day: null })).toEqual([]);
  });

  test.each([
    ["block_date = '2026-04-01'", 'in 2026-04-01: none of it is in the warehouse'],
    ["block_date between '2026-04-30' and '2026-05-03'", `in 2026-04-30:2026-05-03: ${HELD}`],
    ["block_date >= '2026-05-01'", `since 2026-05-01: ${HELD}`],
    ["block_date > '2026-05-01'", 'since 2026-05-02: none of it is in the warehouse'],
    ['month(block_date) = 5', `in 2026-05-01:2026-05-31: ${HELD}`],
    [
      "block_time between '2026-05-01 23:00' and '2026-05-01 23:33:30'",
      `in 2026-05-01 23:00:00 to 2026-05-01 23:33:31: only 2026-05-01 23:33:20 to 2026-05-01 23:33:30 is in the warehouse`,
    ],
  ])('where %s', async (condition, gap) => {
    expect(await gapsOf(`select * from transactions where ${condition}`)).toEqual([`transactions is not whole ${gap}`]);
  });

  test('of a mart: only days that are asked for, and those that are not built', async () => {
    const of = (condition: string) => gapsOf(`select * from transactions_daily where ${condition}`);
    expect(await gapsOf('from transactions_daily')).toEqual(['transactions_daily is not whole: 2026-05-01']);
    expect(await of("block_date = '2026-05-01'")).toEqual(['transactions_daily is not whole: 2026-05-01']);
    expect(await of("block_date = '2026-05-03'")).toEqual([
      'transactions_daily is not whole: nothing is built in 2026-05-03',
    ]);
    expect(await of("block_date >= '2026-05-03'")).toEqual([
      'transactions_daily is not whole: nothing is built since 2026-05-03',
    ]);
  });

  test('of a report, in red', async () => {
    const params = { from: '2026-05-01', to: '2026-05-01' };
    const { gaps, content } = await renderReport(warehouse, 'network-daily', { params });
    expect(gaps).toEqual(expect.arrayContaining([PART, `blocks is not whole in 2026-05-01: ${HELD}`]));
    expect(content).toMatch(/<section class="gaps" role="alert">.*transactions is not whole in 2026-05-01/);
  });

  test('in the library, whose parameters count', async () => {
    const opened = await openWarehouse(warehouse, { strict: true });
    const sql = 'select count(*) from transactions where block_date = $day';
    await expect(opened.query(sql, { day: '2026-05-01' })).rejects.toMatchObject({ code: 'not-whole' });
    await opened.close();
  });
});

describe('a period is whole', () => {
  const DAY = 86_400;
  const START = Date.UTC(2026, 4, 2) / 1000;

  /** What is told of a period, in seconds of 2026-05-02, over sealed masterchain blocks given by seqno and second. */
  async function toldOf(
    blocks: readonly (readonly [seqno: number, second: number])[],
    [from, to]: readonly [number | undefined, number | undefined],
  ): Promise<readonly string[]> {
    const database = await Database.open();
    const rows = blocks.map(([seqno, second]) => `(-1, ${seqno}, ${seqno}, ${START + second})`);
    await database.run(
      `CREATE TABLE _headers AS SELECT * FROM (VALUES ${rows.join(', ')}) AS b(workchain, seqno, mc_block_seqno, gen_utime)`,
    );
    const period = {
      from: from === undefined ? undefined : START + from,
      to: to === undefined ? undefined : START + to,
    };
    const ledger = blocks.map(([seqno]) => sealed(seqno));
    const parts = [{ relation: 'blocks', periods: [period] }];
    const gaps = await periodGaps(database.query, ledger, await loadRegistry(), parts);
    database.close();
    return gaps.map((gap) => describeGap(gap));
  }

  const sealed = (seqno: number): LedgerEntry => ({
    ...{ format: 1, number: seqno, id: String(seqno), network: 'sandbox', pipeline: 'blocks', version: 1 },
    ...{ span: { from: seqno, to: seqno }, verdict: 'sealed', tables: {}, requests: 0, retries: 0 },
    ...{ supersedes: [], committedAt: '' },
  });
  const days = [9, 10, 11, 12, 13].map((seqno, at) => [seqno, [-3, 0, 50_000, DAY - 2, DAY][at] ?? 0] as const);

  test('between its neighbours, or where its first block is as near to its start as blocks are to each other', async () => {
    expect(await toldOf(days, [0, DAY])).toEqual([]);
    expect(await toldOf(days.slice(1), [0, DAY])).toEqual([]);
    expect(await toldOf(days, [100, 200])).toEqual([]);
    expect(await toldOf(days, [undefined, DAY])).toEqual([]);
    expect(await toldOf(days, [0, undefined])).toEqual([]);
  });

  test('and not without the block after it, nor with a hole', async () => {
    expect(await toldOf(days.slice(0, 4), [0, DAY])).toEqual([
      'blocks is not whole in 2026-05-02: only 2026-05-02 00:00:00 to 2026-05-02 23:59:58 is in the warehouse',
    ]);
    expect(await toldOf([...days.slice(0, 2), ...days.slice(3)], [0, DAY])).toEqual([
      'blocks is not whole in 2026-05-02: missing 11',
    ]);
    expect(await toldOf(days, [DAY, 2 * DAY])).toEqual([
      'blocks is not whole in 2026-05-03: only 2026-05-03 00:00:00 to 2026-05-03 00:00:00 is in the warehouse',
    ]);
  });
});

describe.each(['w', 'w.duckdb'])('what was removed on purpose from %s', (name) => {
  let path: string;
  let expired: string;

  beforeAll(async () => {
    path = join(freshFolder(), name);
    await run({ pipelines: ['transactions'], network: 'sandbox', range: '4990:5009', warehouse: path });
    expired = join(freshFolder(), name);
    cpSync(path, expired, { recursive: true });
    await forgetRange({ warehouse: path, pipelines: ['transactions'], range: '5002:5003' });
    await forgetRange({ warehouse: expired, pipelines: ['transactions', 'blocks'], range: '4990:4999' });
  });

  test('is told as that, and asks for no export', async () => {
    expect(await gapsOf('from transactions', undefined, path)).toEqual([
      'transactions is not whole: forgotten 5002:5003',
    ]);
    const day = "select * from transactions where block_date = '2026-05-02'";
    expect(await gapsOf(day, undefined, path)).toEqual([
      expect.stringMatching(
        /^transactions is not whole in 2026-05-02: only .* is in the warehouse; forgotten 5002:5003$/,
      ),
    ]);
    expect(await gapsOf(day.replace('05-02', '05-01'), undefined, expired)).toEqual([
      'transactions is not whole in 2026-05-01: none of it is in the warehouse; forgotten 4990:4999',
    ]);
  });

  test('is no hole of the status', async () => {
    const { pipelines } = await readStatus(path);
    const spans = [{ from: 5002, to: 5003 }];
    expect(pipelines.find(({ pipeline }) => pipeline === 'transactions')).toMatchObject({
      holes: [],
      forgotten: spans,
    });
    const { stdout } = await tonlake(['status', '--warehouse', path]);
    expect(stdout).toMatch(/\nforgotten +transactions +5002:5003\n/);
    expect(stdout).toContain('nothing is missing or in quarantine');
  });

  test('is a gap no more when it is exported again', async () => {
    await run({ pipelines: ['transactions'], network: 'sandbox', range: '5002', warehouse: path });
    expect(await gapsOf('from transactions', undefined, path)).toEqual(['transactions is not whole: forgotten 5003']);
    await run({ pipelines: ['transactions'], network: 'sandbox', range: '5003', warehouse: path });
    expect(await gapsOf('from transactions', undefined, path)).toEqual([]);
  });

  test('is told as that where nothing is left', async () => {
    await forgetRange({ warehouse: expired, pipelines: ['transactions', 'blocks'], range: '5000:5009' });
    expect(await gapsOf('from messages', undefined, expired)).toEqual(['messages is empty: forgotten 4990:5009']);
  });
});
