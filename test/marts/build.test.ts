import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { buildMarts, type MartBuild } from '../../src/marts/build-marts.ts';
import { startTonlake, tonlake } from '../cli.ts';
import { freshFolder } from '../scratch.ts';
import { dropFile, ledgerFiles, readEntry } from '../verify/support.ts';
import { copyOf, exportSandbox, hashMarts, marts, texts } from './support.ts';

const source = await exportSandbox('4990:5009');
const built = await copyOf(source);
const first = await buildMarts(built);

const statusOf = (builds: readonly MartBuild[]) => Object.fromEntries(builds.map(({ name, status }) => [name, status]));

test('the twenty-three marts are there, each with a question, and every column has a meaning', () => {
  expect(marts.map(({ name }) => name).sort()).toEqual([
    ...['accounts', 'actions_daily', 'active_accounts_daily', 'balances_history', 'block_times', 'dex_swaps'],
    ...['dex_volumes_daily', 'failed_transactions_daily', 'gas_by_code_daily', 'gas_by_opcode_daily', 'gas_fees_daily'],
    ...['jetton_changes_daily', 'jetton_holders', 'jetton_holders_daily', 'jetton_transfers_daily'],
    ...[
      'jetton_volumes_daily',
      'latest_balances',
      'messages_by_opcode_daily',
      'nft_sales_daily',
      'nft_transfers_daily',
    ],
    ...['shard_state', 'top_contracts_daily', 'transactions_daily'],
  ]);
  for (const { question, table, name } of marts) {
    expect(question).toMatch(/\?$/);
    expect(table.columns.filter(({ doc }) => doc === '').map((column) => `${name}.${column.name}`)).toEqual([]);
  }
});

test('every mart is built, day by day where its grain has a day, and says which days are not whole', () => {
  expect(new Set(first.map(({ status }) => status))).toEqual(new Set(['built']));
  // In these blocks no NFT changed hands, and nobody swapped on the second day.
  const fewer: Readonly<Record<string, readonly string[]>> = {
    nft_transfers_daily: [],
    dex_volumes_daily: ['2026-05-01'],
  };
  for (const mart of marts) {
    const build = first.find(({ name }) => name === mart.name);
    const days = fewer[mart.name] ?? (mart.isDaily ? ['2026-05-01', '2026-05-02'] : []);
    expect([build?.days, build?.marked], mart.name).toEqual([days, days]);
  }
});

test('the figures of marts are those of direct queries', async () => {
  const pairs = [
    [
      'select block_date, tx_count, aborted_count from transactions_daily order by all',
      "select block_date, count(*), count(*) filter (aborted and descr = 'ord') from transactions group by all order by all",
    ],
    [
      'select sum(message_count), sum(value) from messages_by_opcode_daily',
      'select count(*), sum(value) from messages',
    ],
    ['select sum(tx_count) from accounts', 'select count(*) from transactions'],
    [
      'select address, first_tx_sender, first_tx_sender is null from accounts order by all',
      `select account, source, source is null
       from transactions left join messages on tx_hash = hash and direction = 'in'
       qualify row_number() over (partition by account order by lt) = 1
       order by all`,
    ],
    [
      'select block_date, active_accounts from active_accounts_daily order by all',
      'select block_date, count(distinct account) from transactions group by all order by all',
    ],
    [
      'select block_date, total_fees from gas_fees_daily order by all',
      'select block_date, sum(total_fees) from transactions group by all order by all',
    ],
    ['select sum(fwd_fees) from gas_fees_daily', "select sum(fwd_fee) from messages where direction = 'out'"],
    [
      "select sum(tx_count) from failed_transactions_daily where phase = 'skipped'",
      "select count(*) from transactions where descr = 'ord' and compute_skipped",
    ],
    ['select sum(action_count) from actions_daily', 'select count(*) from actions'],
    ['select count(*) from dex_swaps', "select count(*) from actions where type = 'jetton_swap' and success"],
    [
      'select sum(transfer_count), sum(amount) from jetton_volumes_daily',
      'select count(*), sum(amount) from jetton_transfers',
    ],
    ['select sum(block_count), sum(tx_count) from block_times', 'select count(*), sum(tx_count) from blocks'],
    [
      'select count(distinct jetton_wallet) from jetton_holders',
      "select count(distinct address) from jetton_wallets where balance <> '0' and balance not like '-%'",
    ],
  ] as const;
  for (const [mart, direct] of pairs) expect(await texts(built, mart), mart).toEqual(await texts(built, direct));
});

test('the key of every mart is unique', async () => {
  for (const { name, table } of marts) {
    const doubles = `select ${table.key.join(', ')} from ${name} group by all having count(*) > 1`;
    expect(await texts(built, doubles), name).toEqual([]);
  }
});

test('building again changes nothing, and --full gives the same rows', async () => {
  const before = await hashMarts(built);
  expect(new Set((await buildMarts(built)).map(({ status }) => status))).toEqual(new Set(['unchanged']));
  expect(new Set((await buildMarts(built, { full: true })).map(({ status }) => status))).toEqual(new Set(['built']));
  expect(await hashMarts(built)).toEqual(before);
});

test('after more blocks, only their day is rebuilt, and the rows are those of a single build', async () => {
  const names = ['transactions_daily', 'latest_balances'];
  const [grown, whole] = [join(freshFolder(), 'w'), join(freshFolder(), 'w')];
  await exportSandbox('4995:5004', ['transactions'], grown);
  await buildMarts(grown, { names });
  await exportSandbox('5005:5009', ['transactions'], grown);
  const builds = await buildMarts(grown, { names });
  expect(builds.map(({ name, days }) => [name, days])).toEqual([
    ['balances_history', ['2026-05-02']],
    ['latest_balances', []],
    ['transactions_daily', ['2026-05-02']],
  ]);
  await exportSandbox('4995:5009', ['transactions'], whole);
  await buildMarts(whole, { names });
  expect(await hashMarts(grown, names)).toEqual(await hashMarts(whole, names));
});

test('swaps whose pool paid on the day before are those of a single build when that day comes later', async () => {
  const grown = join(freshFolder(), 'w');
  const pipelines = ['transactions', 'actions'];
  const names = ['dex_swaps', 'dex_volumes_daily'];
  await exportSandbox('5000:5019', pipelines, grown);
  await exportSandbox('4999:4999', ['blocks'], grown);
  await buildMarts(grown, { names });
  await exportSandbox('4980:4999', pipelines, grown);
  const builds = await buildMarts(grown, { names: ['dex_swaps'] });
  expect(builds.map(({ days }) => days)).toEqual([['2026-05-01', '2026-05-02']]);
  await buildMarts(grown, { names });
  const whole = join(freshFolder(), 'w');
  await exportSandbox('4980:5019', pipelines, whole);
  await buildMarts(whole, { names });
  expect(await hashMarts(grown, names)).toEqual(await hashMarts(whole, names));
});

test('a one-file warehouse holds the same rows', async () => {
  const path = join(freshFolder(), 'w.duckdb');
  await exportSandbox('4990:5009', ['transactions', 'actions', 'jetton_transfers', 'nft_transfers'], path);
  const builds = await buildMarts(path);
  const names = builds.filter(({ status }) => status === 'built').map(({ name }) => name);
  // What lists tell depends on when they were read.
  const comparable = names.filter((name) => name !== 'accounts' && name !== 'latest_balances');
  expect(comparable).toHaveLength(18);
  expect(await hashMarts(path, comparable)).toEqual(await hashMarts(built, comparable));
  expect(new Set(Object.values(statusOf(await buildMarts(path))))).toEqual(new Set(['unchanged', 'empty']));
});

describe('a mart that reads what was never exported', () => {
  test('is skipped with the reason', async () => {
    const path = await exportSandbox('5000:5004', ['transactions']);
    const { code, stdout } = await tonlake(['build', '--warehouse', path]);
    expect(code).toBe(0);
    const hint = `tonlake run --warehouse ${path} jetton_wallets --range 5000:5004`;
    expect(stdout).toContain(`jetton_holders: skipped, jetton_wallets was never exported: ${hint}\n`);
    expect(stdout).toMatch(/transactions_daily: built, 2 rows; 2 days built/);
    const one = await tonlake(['build', 'dex_swaps', '--warehouse', path]);
    expect(one.code).toBe(1);
    expect(one.stderr).toBe(
      `error: mart dex_swaps: expected its inputs, got none: actions was never exported: tonlake run --warehouse ${path} actions --range 5000:5004\n`,
    );
  });

  test('through another mart is told with the command that exports it: no burns are known only then', async () => {
    const path = await exportSandbox('5000:5004', ['transactions', 'jetton_transfers', 'jetton_wallets']);
    const lacking = await tonlake(['build', 'jetton_holders_daily', '--warehouse', path]);
    const run = `run --warehouse ${path} jetton_burns --range 5000:5004`;
    expect(lacking.stderr).toBe(
      `error: mart jetton_holders_daily: expected its inputs, got none: jetton_burns was never exported: tonlake ${run}\n`,
    );
    expect(await tonlake(run.split(' '))).toMatchObject({ code: 0 });
    expect(await tonlake(['build', 'jetton_holders_daily', '--warehouse', path])).toMatchObject({ code: 0 });
  });
});

test('an unknown mart is a usage error with the closest name', async () => {
  const { code, stderr } = await tonlake(['build', 'gas_fee_daily', '--warehouse', built]);
  expect(code).toBe(2);
  expect(stderr).toMatch(
    /^error: usage: expected a mart, got "gas_fee_daily"; hint: did you mean gas_fees_daily\?.*\n$/,
  );
});

describe('marts are relations like tables', () => {
  test('of sql with a warning, of files, describe and status, and verify proves the warehouse still', async () => {
    const sql = await tonlake([
      'sql',
      'select tx_count from transactions_daily',
      '--warehouse',
      built,
      '--format',
      'csv',
    ]);
    expect(sql.stdout).toMatch(/^tx_count\n\d+\n\d+\n$/);
    expect(sql.stderr).toBe('warning: transactions_daily: missing part of 2026-05-01, 2026-05-02\n');
    const strict = await tonlake(['sql', 'from transactions_daily', '--warehouse', built, '--strict']);
    expect(strict.code).toBe(1);
    const files = await tonlake(['show', 'transactions_daily', '--files', '--warehouse', built]);
    expect(files.stdout.trim().split('\n')).toHaveLength(2);
    const status = await tonlake(['status', '--long', '--warehouse', built]);
    expect(status.stdout).toContain(
      '  transactions_daily: 2 rows; 2 days; current; missing part of 2026-05-01, 2026-05-02\n',
    );
    expect(status.stdout).not.toContain('mart:');
    expect((await tonlake(['show', 'dex_swaps'])).stdout).toContain('Who swapped what for what');
    const verify = await tonlake(['verify', '--warehouse', built]);
    expect(verify.code).toBe(0);
    expect(verify.stdout).not.toContain('mart:');
  });

  test('compact merges tables, and leaves marts as they are', async () => {
    const path = await copyOf(built);
    const before = await hashMarts(path);
    expect((await tonlake(['compact', '--warehouse', path])).code).toBe(0);
    expect(await hashMarts(path)).toEqual(before);
    await buildMarts(path);
    expect(await hashMarts(path)).toEqual(before);
  });
});

test('a build that is killed leaves the marts of before or after, and building again completes them', async () => {
  const path = await copyOf(source);
  const wanted = await hashMarts(built);
  for (const waitMs of [250, 500, 750]) {
    const running = startTonlake(['build', '--full', '--warehouse', path]);
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    running.kill('SIGKILL');
    await running.finished;
    const names = (await texts(path, "select distinct pipeline[6:] from _commits where pipeline like 'mart:%'")).flat();
    const whole = names.filter((name) => name !== 'check_failures');
    for (const [name, hash] of Object.entries(await hashMarts(path, whole))) {
      const rows = Number.parseInt(hash, 10);
      expect(rows, name).toBeLessThanOrEqual(Number.parseInt(wanted[name] ?? '', 10));
    }
  }
  await buildMarts(path);
  expect(await hashMarts(path)).toEqual(wanted);
});

test('a damaged file of a mart is found by verify, and --repair makes it anew', async () => {
  const path = await copyOf(built);
  const wanted = await hashMarts(path);
  const files = await tonlake(['show', 'gas_fees_daily', '--files', '--warehouse', path]);
  dropFile(path, (files.stdout.split('\n')[0] ?? '').slice(path.length + 1));
  const found = await tonlake(['verify', '--warehouse', path]);
  expect(found.code).toBe(1);
  expect(found.stdout).toContain('mart:gas_fees_daily');
  expect((await tonlake(['verify', '--repair', '--warehouse', path])).code).toBe(0);
  expect(await hashMarts(path)).toEqual(wanted);
  const again = await buildMarts(path);
  expect(again.filter(({ status }) => status === 'built')).toEqual([]);
});

test.each([
  ['the newest', -1],
  ['an older', -2],
])('a mart has the rows of its entry before where %s one is lost together with its rows', async (_, at) => {
  const path = await copyOf(built);
  const wanted = await hashMarts(path);
  const file =
    ledgerFiles(path)
      .filter((each) => readEntry(each).mart !== undefined)
      .at(at) ?? '';
  const { tables } = readEntry(file);
  for (const { path: rows } of Object.values(tables).flatMap(({ files }) => files)) dropFile(path, rows);
  rmSync(file);
  const { code, stdout } = await tonlake(['verify', '--repair', '--warehouse', path]);
  expect(code, stdout).toBe(0);
  expect((await tonlake(['verify', '--warehouse', path])).code).toBe(0);
  expect(await hashMarts(path)).toEqual(wanted);
});

test('a mart that was built without rows has the days of rows that come later', async () => {
  const path = await exportSandbox('4990', ['nft_transfers']);
  await buildMarts(path, { names: ['nft_transfers_daily'] });
  await exportSandbox('4991:5040', ['nft_transfers'], path);
  await buildMarts(path, { names: ['nft_transfers_daily'] });
  const transfers = await texts(path, 'SELECT block_date, count(*) FROM nft_transfers GROUP BY ALL ORDER BY ALL');
  expect(transfers.length).toBeGreaterThan(0);
  expect(
    await texts(
      path,
      'SELECT block_date, sum(transfer_count + aborted_count) FROM nft_transfers_daily GROUP BY ALL ORDER BY ALL',
    ),
  ).toEqual(transfers);
});
