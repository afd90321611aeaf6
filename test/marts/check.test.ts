import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildMarts } from '../../src/marts/build-marts.ts';
import { loadChecks, withDeclared } from '../../src/marts/load-checks.ts';
import { type CheckResult, runChecks } from '../../src/marts/run-checks.ts';
import { Database } from '../../src/sql/database.ts';
import { tonlake } from '../cli.ts';
import { closing, freshFolder } from '../scratch.ts';
import { copyOf, damage, exportSandbox, registry, sqlFolder, texts } from './support.ts';

const checks = withDeclared(await loadChecks(registry), registry);

const sound = await exportSandbox('5000:5039', undefined, join(freshFolder(), 'w.duckdb'));
await buildMarts(sound);
const folder = await exportSandbox('5000:5004', ['transactions']);

const one = (table: string, where = 'true') => `rowid = (SELECT min(rowid) FROM _rows.${table} WHERE ${where})`;

/** What breaks the rule of each check. */
const damages: Readonly<Record<string, string>> = {
  accepted_values: `UPDATE _rows.transactions SET end_status = 'gone' WHERE ${one('transactions')}`,
  block_tx_counts: `DELETE FROM _rows.transactions WHERE ${one('transactions')}`,
  message_counts: `DELETE FROM _rows.messages WHERE ${one('messages', "direction = 'out'")}`,
  messages_in_transactions: `UPDATE _rows.messages SET tx_hash = repeat('A', 43) || '=' WHERE ${one('messages')}`,
  not_null: `UPDATE _rows.messages SET tx_lt = NULL WHERE ${one('messages')}`,
  states_in_transactions: `UPDATE _rows.account_states SET balance = balance + 1 WHERE ${one('account_states', 'balance IS NOT NULL')}`,
  transaction_balances: `UPDATE _rows.transactions SET account_state_balance_after = account_state_balance_after + 1
    WHERE ${one('transactions', 'account_state_balance_before IS NOT NULL AND account_state_balance_after IS NOT NULL')}`,
  transaction_times: `UPDATE _rows.transactions SET lt = other.lt FROM (SELECT account, max(lt) AS lt FROM _rows.transactions GROUP BY account
    HAVING count(*) > 1) AS other WHERE other.account = transactions.account`,
  transactions_in_blocks: `UPDATE _rows.transactions SET lt = 1 WHERE ${one('transactions')}`,
  unique_keys: `INSERT INTO _rows.blocks SELECT * FROM _rows.blocks WHERE ${one('blocks')}`,
};

test('every check passes on a sound warehouse, and leaves an empty table of offenders', async () => {
  const { passed, checks: results } = await runChecks(sound);
  expect(results.filter(({ status }) => status !== 'passed')).toEqual([]);
  expect(results.map(({ name }) => name)).toEqual(checks.map(({ name }) => name));
  expect(passed).toBe(true);
  expect(await texts(sound, 'select count(*) from check_failures')).toEqual([['0']]);
});

describe('a damaged warehouse', () => {
  test('is thought of for every check', () => {
    expect(Object.keys(damages).sort()).toEqual(checks.map(({ name }) => name));
  });

  test('fails each of them, by rows that it returns', async () => {
    const database = closing(await Database.open(await copyOf(sound)));
    for (const { name, parts } of checks) {
      const sql = parts.map((part) => `SELECT to_json(r) FROM (\n${part.sql}\n) AS r`).join('\nUNION ALL\n');
      await database.run('BEGIN TRANSACTION');
      await database.run(damages[name] ?? '');
      expect((await database.query(sql)).rows.length, name).toBeGreaterThan(0);
      await database.run('ROLLBACK');
      expect((await database.query(sql)).rows, name).toEqual([]);
    }
  });

  test('has the offending rows in a table afterwards', async () => {
    const path = await copyOf(sound);
    await damage(path, damages['transaction_balances'] ?? '');
    const { passed, checks: results } = await runChecks(path, {
      names: ['transaction_balances', 'unique_keys'],
      all: true,
    });
    expect(passed).toBe(false);
    expect(results).toMatchObject([
      { name: 'transaction_balances', status: 'failed', offenders: 1 },
      { name: 'unique_keys', status: 'passed', offenders: 0 },
    ] satisfies readonly Partial<CheckResult>[]);
    const [[offender = ''] = []] = await texts(path, 'select offender from check_failures');
    expect(Object.keys(JSON.parse(offender) as object)).toEqual(['hash', 'account', 'expected', 'got']);
  });
});

test('a balance has the fee of a delivery that did not take place, and lacks what its account burns', async () => {
  const database = closing(await Database.open(await copyOf(sound)));
  const sql = checks.find(({ name }) => name === 'transaction_balances')?.parts[0]?.sql ?? '';
  const received = `hash = (SELECT tx_hash FROM messages JOIN transactions ON tx_hash = hash WHERE direction = 'in' AND value > 0
    AND account_state_balance_before IS NOT NULL AND account_state_balance_after IS NOT NULL ORDER BY hash LIMIT 1)`;
  const message = `tx_hash = (SELECT hash FROM transactions WHERE ${received}) AND direction = 'in'`;
  const value = `(SELECT value FROM messages WHERE ${message})`;
  const later = (more: string) =>
    `UPDATE _rows.transactions SET account_state_balance_after = account_state_balance_after + ${more} WHERE ${received}`;
  const credited = (credit: string) => `UPDATE _rows.transactions SET credit = ${credit} WHERE ${received}`;
  const offenders = async (...changes: readonly string[]): Promise<number> => {
    await database.run('BEGIN TRANSACTION');
    for (const change of changes) await database.run(change);
    const { rows } = await database.query(sql);
    await database.run('ROLLBACK');
    return rows.length;
  };
  const fee = `UPDATE _rows.messages SET ihr_fee = 300 WHERE ${message}`;
  expect(await offenders(later('300'))).toBe(1);
  expect(await offenders(fee, later('300'))).toBe(0);
  expect(await offenders(later(`-${value}`))).toBe(1);
  expect(await offenders(later(`-${value}`), credited('0'))).toBe(0);
  expect(await offenders(credited('7'))).toBe(0);
});

const resultOf = (results: readonly CheckResult[], name: string) => results.find((each) => each.name === name);

describe('what a check reads', () => {
  let path: string;

  beforeAll(async () => {
    path = await exportSandbox('4990:5009', ['transactions', 'account_latest'], join(freshFolder(), 'w.duckdb'));
    await runChecks(path);
  });

  test('is nothing if nothing has changed since it passed, and all of it with `all`', async () => {
    const unchanged = await runChecks(path);
    expect(unchanged.checks.flatMap(({ read }) => read)).toEqual([]);
    const all = await runChecks(path, { all: true });
    expect(resultOf(all.checks, 'message_counts')?.read).toEqual(['2026-05-01', '2026-05-02']);
    expect(resultOf(all.checks, 'unique_keys')?.read).toEqual(['all']);
  });

  test('are the days that changed', async () => {
    const own = await copyOf(path);
    await exportSandbox('5010:5012', ['transactions'], own);
    const { checks: results } = await runChecks(own);
    const read = new Set(results.filter(({ status }) => status === 'passed').flatMap((each) => each.read));
    expect([...read]).toEqual(['2026-05-02']);
    expect((await runChecks(own)).checks.flatMap((each) => each.read)).toEqual([]);
  });

  test('are rows of tables without days that were read since', async () => {
    const own = await copyOf(path);
    await damage(
      own,
      'UPDATE _rows.account_latest SET address = NULL WHERE _read_at = (SELECT min(_read_at) FROM _rows.account_latest)',
    );
    expect(resultOf((await runChecks(own)).checks, 'not_null')).toMatchObject({ status: 'passed', read: [] });
    const { checks: results } = await runChecks(own, { all: true });
    expect(resultOf(results, 'not_null')).toMatchObject({ status: 'failed' });
  });

  test('are all days again if the rule is another one', async () => {
    const rule = (limit: number) =>
      `-- Few.\n-- rule: a day has few blocks\n-- incremental: block_date\n-- inputs: blocks\nSELECT count(*) AS n FROM blocks HAVING count(*) > ${limit}\n`;
    const own = await copyOf(path);
    const run = async (limit: number) =>
      (await runChecks(own, { names: ['few'], folder: await sqlFolder({ 'few.sql': rule(limit) }) })).checks[0];
    expect(await run(1000)).toMatchObject({ status: 'passed', read: ['2026-05-01', '2026-05-02'] });
    expect(await run(1000)).toMatchObject({ status: 'passed', read: [] });
    expect(await run(1)).toMatchObject({ status: 'failed', offenders: 2, read: ['2026-05-01', '2026-05-02'] });
    // A day that failed is read until it passes.
    expect(await run(1)).toMatchObject({ status: 'failed', offenders: 2 });
    expect(await texts(own, 'select day, number from check_failures order by all')).toEqual([
      ['2026-05-01', '1'],
      ['2026-05-02', '1'],
    ]);
  });

  test('is every day for a key that is in two days, until it is gone', async () => {
    const own = await copyOf(path);
    const twice = "_rows.blocks WHERE block_date = DATE '2026-05-02' AND seqno = (SELECT max(seqno) FROM _rows.blocks)";
    await damage(own, `INSERT INTO _rows.blocks SELECT * REPLACE (block_date - 1 AS block_date) FROM ${twice}`);
    expect((await runChecks(own, { names: ['unique_keys'] })).passed).toBe(true);
    const found = await runChecks(own, { names: ['unique_keys'], all: true });
    expect(found.checks).toMatchObject([{ status: 'failed', offenders: 1, read: ['all'] }]);
    const again = await runChecks(own, { names: ['unique_keys'] });
    expect(again.checks).toMatchObject([{ status: 'failed', offenders: 1, read: ['all'] }]);
    await damage(own, `DELETE FROM ${twice.replace('05-02', '05-01')}`);
    expect((await runChecks(own, { names: ['unique_keys'] })).passed).toBe(true);
    expect(await texts(own, 'select count(*) from check_failures')).toEqual([['0']]);
  });

  test('does not show in what is missing: a block without its transactions fails the day', async () => {
    const own = await copyOf(path);
    await damage(own, "DELETE FROM _rows.transactions WHERE block_date = DATE '2026-05-01'");
    const { checks: results } = await runChecks(own, { names: ['block_tx_counts'], all: true });
    expect(results).toMatchObject([{ status: 'failed' }]);
  });
});

const wrong = (by: string) =>
  `UPDATE _rows.transactions SET account_state_balance_after = account_state_balance_after ${by} WHERE hash = (SELECT min(hash)
   FROM _rows.transactions WHERE account_state_balance_before IS NOT NULL AND account_state_balance_after IS NOT NULL)`;

test('the rows of a check that was repaired go, and those of checks that were not run stay', async () => {
  const path = await copyOf(sound);
  await damage(path, wrong('+ 1'), damages['not_null'] ?? '');
  await runChecks(path, { names: ['transaction_balances', 'not_null'], all: true });
  await damage(path, wrong('- 1'));
  expect((await runChecks(path, { names: ['transaction_balances'] })).passed).toBe(true);
  expect(await texts(path, 'select distinct check_name from check_failures')).toEqual([['not_null']]);
});

describe('tonlake test', () => {
  test('prints a table, skips what cannot be checked, and ends with 0', async () => {
    const own = await sqlFolder({
      'few_actions.sql': '-- Few.\n-- rule: there are few actions\n-- inputs: actions\nFROM actions\n',
    });
    const { code, stdout } = await tonlake(['test', '--checks', own, '--warehouse', folder]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/│ transaction_balances +│ passed +│ +0 │/);
    expect(stdout).toMatch(/│ few_actions +│ skipped │ +│ the warehouse does not have actions +│/);
    expect(stdout).toMatch(/\n10 passed, 0 failed, 1 skipped\n$/);
  });

  test('ends with 1 when a check of the user fails, and tells it as JSON', async () => {
    const own = await sqlFolder({
      'few_blocks.sql': '-- Few.\n-- rule: there are few blocks\n-- inputs: blocks\nFROM blocks\n',
    });
    const { code, stdout } = await tonlake(['test', 'few_blocks', '--checks', own, '--warehouse', folder, '--json']);
    expect(code).toBe(1);
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { event: string; status?: string });
    expect(events).toMatchObject([
      { event: 'check', status: 'failed' },
      { event: 'checked', passed: false },
    ]);
  });

  test('an unknown check is wrong usage', async () => {
    const { code, stderr } = await tonlake(['test', 'unique_key', '--warehouse', folder]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: usage: expected a check, got "unique_key"; hint: did you mean unique_keys\?/);
  });
});
