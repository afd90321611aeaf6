import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadRegistry } from '../../src/declare/registry.ts';
import { followPending } from '../../src/declare/walk.ts';
import { run } from '../../src/export/run.ts';
import { open } from '../../src/library/open.ts';
import { buildMarts } from '../../src/marts/build-marts.ts';
import { renderReport } from '../../src/reports/render-report.ts';
import { forgetRange } from '../../src/verify/forget.ts';
import { openReader } from '../../src/warehouse/open-store.ts';
import { lacksOfQuery, QueryCoverage } from '../../src/warehouse/query/query-coverage.ts';
import { tonlake } from '../cli.ts';
import { closing, freshFolder } from '../scratch.ts';

const HELD = 'only 2026-05-01 23:33:20 to 2026-05-01 23:33:59 is in the warehouse';
const PART = `transactions: missing part of 2026-05-01 (${HELD})`;

/** Blocks of forty seconds of one day. */
const warehouse = join(freshFolder(), 'w');
await run({ pipelines: ['transactions'], network: 'sandbox', range: '1000:1099', warehouse });
await buildMarts(warehouse, { names: ['transactions_daily'] });

async function lacksOf(
  sql: string,
  parameters?: Readonly<Record<string, unknown>>,
  path = warehouse,
): Promise<readonly string[]> {
  const registry = await loadRegistry();
  const reader = closing(await openReader(path, registry.tables));
  return lacksOfQuery(reader, registry, { sql, ...(parameters && { parameters }) });
}

describe('a table that was never exported is missing', () => {
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
    ['select * from pending_actions', [`pending_actions was never watched here: ${followPending()}`]],
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
  ])('%s', async (sql, lacks) => {
    expect(await lacksOf(sql)).toEqual(lacks);
  });
});

describe('half a day is missing in part', () => {
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
    ['select * from transactions where block_date = (select max(block_date) from transactions)'],
    ['select * from transactions where mc_block_seqno between 1000 and 1010'],
    ["select count(*) from transactions where block_date < '2026-05-02' and block_date > '2026-05-02'"],
  ])('and none of %s', async (sql) => {
    expect(await lacksOf(sql)).toEqual([]);
  });

  test.each([
    ["select * from transactions where block_date in ('2026-05-01') and lt > 3"],
    ["select * from transactions where block_date <= '2026-05-01' and not block_date < '2026-05-01'"],
    ["select * from transactions where block_time::date = date '2026-05-02' - 1"],
    ["select * from transactions where date_trunc('day', block_time) = '2026-05-01'"],
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
    expect(await lacksOf(sql)).toEqual([PART]);
  });

  test.each([
    ["set variable d = date '2026-05-01'; select * from transactions where block_date = getvariable('d')"],
    [
      "set variable d = date '2026-05-02'; set variable d = getvariable('d') - 1; select * from transactions where block_date = getvariable('d')",
    ],
    [
      `set variable "über ""a""" = date '2026-05-01'; select * from transactions where block_date = getvariable('über "A"')`,
    ],
    [
      "set variable Ü = date '2026-05-02'; set variable Day to getvariable('Ü') - 1; select * from transactions where block_date = getvariable('dAY')",
    ],
  ])('which a variable names: %s', async (sql) => {
    expect(await lacksOf(sql)).toEqual([PART]);
  });

  test('but not of a variable whose value rows decide', async () => {
    const sql =
      "set variable d = (select max(block_date) + 1 from transactions); select lt from transactions where block_date = getvariable('d')";
    expect(await lacksOf(sql)).toEqual([]);
  });

  test('but not of a variable that has no value any more', async () => {
    const sql =
      "set variable D = date '2026-05-01'; reset variable d; select lt from transactions where block_date = getvariable('d')";
    expect(await lacksOf(sql)).toEqual([]);
  });

  test('and of rows that a variable has, whatever its name', async () => {
    const lacks = ['actions was never exported here: tonlake run actions --range 1000:1099'];
    expect(await lacksOf('set variable größe = (select max(start_lt) from actions)')).toEqual(lacks);
  });

  test('which a parameter names', async () => {
    const sql = 'select * from transactions where $day::date is null or block_date = $day';
    expect(await lacksOf(sql, { day: '2026-05-01' })).toEqual([PART]);
    expect(await lacksOf(sql, { day: null })).toEqual([]);
  });

  test.each([
    ["block_date = '2026-04-01'", '2026-04-01 (not exported)'],
    ["block_date between '2026-04-30' and '2026-05-03'", `part of 2026-04-30:2026-05-03 (${HELD})`],
    ["block_date >= '2026-05-01'", `part of all since 2026-05-01 (${HELD})`],
    ["block_date >= timestamp '2026-05-01 00:00:00'", `part of all since 2026-05-01 (${HELD})`],
    ["block_date > '2026-05-01'", 'all since 2026-05-02 (not exported)'],
    ['month(block_date) = 5', `part of 2026-05-01:2026-05-31 (${HELD})`],
    ["strftime(block_date, '%Y-%m') = '2026-04'", '2026-04-01:2026-04-30 (not exported)'],
    ["block_date::varchar = '2026-04-03'", '2026-04-03 (not exported)'],
    ['extract(year from block_date) = 2025', '2025-01-01:2025-12-31 (not exported)'],
    ["block_time between '2026-05-01 23:00' and '2026-05-01 23:33:30'", `part of 2026-05-01 (${HELD})`],
  ])('where %s', async (condition, missing) => {
    expect(await lacksOf(`select * from transactions where ${condition}`)).toEqual([
      `transactions: missing ${missing}`,
    ]);
  });

  test('of a mart: only days that are asked for, and those that are not built', async () => {
    const of = (condition: string) => lacksOf(`select * from transactions_daily where ${condition}`);
    expect(await lacksOf('from transactions_daily')).toEqual(['transactions_daily: missing part of 2026-05-01']);
    expect(await of("block_date = '2026-05-01'")).toEqual(['transactions_daily: missing part of 2026-05-01']);
    expect(await of("block_date = '2026-05-03'")).toEqual(['transactions_daily: missing 2026-05-03 (not built)']);
    expect(await of("block_date >= '2026-05-03'")).toEqual([
      'transactions_daily: missing all since 2026-05-03 (not built)',
    ]);
  });

  test('of a report, in red', async () => {
    const params = { from: '2026-05-01', to: '2026-05-01' };
    const { gaps, content } = await renderReport(warehouse, 'network-daily', { params });
    expect(gaps).toEqual(expect.arrayContaining([PART, PART.replace('transactions', 'blocks')]));
    expect(content).toMatch(/<section class="gaps" role="alert">.*transactions: missing part of 2026-05-01/);
  });

  test('in the library, whose parameters count', async () => {
    const opened = closing(await open({ warehouse, strict: true }));
    const sql = 'select count(*) from transactions where block_date = $day';
    await expect(opened.query(sql, { day: '2026-05-01' })).rejects.toMatchObject({ code: 'missing' });
  });
});

describe('what was removed on purpose', () => {
  let path: string;
  let expired: string;

  beforeAll(async () => {
    path = join(freshFolder(), 'w');
    await run({ pipelines: ['transactions'], network: 'sandbox', range: '4990:5009', warehouse: path });
    expired = join(freshFolder(), 'w');
    cpSync(path, expired, { recursive: true });
    await forgetRange({ warehouse: path, pipelines: ['transactions'], range: '5002:5003' });
    await forgetRange({ warehouse: expired, pipelines: ['transactions', 'blocks'], range: '4990:4999' });
  });

  test('is told as that, and asks for no export', async () => {
    expect(await lacksOf('from transactions', undefined, path)).toEqual([
      'transactions: missing 5002:5003 (forgotten)',
    ]);
    const day = "select * from transactions where block_date = '2026-05-02'";
    expect(await lacksOf(day, undefined, path)).toEqual([
      expect.stringMatching(
        /^transactions: missing part of 2026-05-02 \(only .* is in the warehouse\), 5002:5003 \(forgotten\)$/,
      ),
    ]);
    expect(await lacksOf(day.replace('05-02', '05-01'), undefined, expired)).toEqual([
      'transactions: missing 2026-05-01 (not exported), forgotten 4990:4999',
    ]);
  });

  test('is no matter where a query reads other tables', async () => {
    expect(await lacksOf('with transactions as (from blocks) from transactions', undefined, path)).toEqual([]);
  });

  test('is told once by the library, and refused there as well', async () => {
    const warnings: string[] = [];
    const opened = await open({ warehouse: path, onWarning: (message) => warnings.push(message) });
    await opened.query('from transactions');
    await opened.query('from transactions');
    await opened.close();
    expect(warnings).toEqual(['transactions: missing 5002:5003 (forgotten)']);
    const strict = closing(await open({ warehouse: path, strict: true }));
    await expect(strict.query('from transactions')).rejects.toMatchObject({ code: 'missing' });
    await expect(strict.query('select count(*) from blocks')).resolves.toBeDefined();
  });

  test('is there when it is exported again', async () => {
    await run({ pipelines: ['transactions'], network: 'sandbox', range: '5002', warehouse: path });
    expect(await lacksOf('from transactions', undefined, path)).toEqual(['transactions: missing 5003 (forgotten)']);
    await run({ pipelines: ['transactions'], network: 'sandbox', range: '5003', warehouse: path });
    expect(await lacksOf('from transactions', undefined, path)).toEqual([]);
  });

  test('is told as that where nothing is left', async () => {
    await forgetRange({ warehouse: expired, pipelines: ['transactions', 'blocks'], range: '5000:5009' });
    expect(await lacksOf('from messages', undefined, expired)).toEqual(['messages is empty: forgotten 4990:5009']);
  });
});

test('who interrupts and closes what could not be opened gets no error, which the query had', async () => {
  const registry = await loadRegistry();
  const reader = closing(await openReader(warehouse, registry.tables));
  const unreadable = new QueryCoverage(
    reader,
    Object.defineProperty(Object.create(registry), 'tables', {
      get() {
        throw new Error('unreadable');
      },
    }),
  );
  const query = unreadable.lacks('select 1');
  unreadable.interrupt();
  await expect(query).rejects.toThrow('unreadable');
  unreadable.interrupt();
  await unreadable.close();
});
