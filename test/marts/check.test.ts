import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import transactions from '../../pipelines/transactions.ts';
import { buildMarts } from '../../src/marts/build-marts.ts';
import { type CheckResult, loadChecks, runChecks } from '../../src/marts/run-checks.ts';
import { Database } from '../../src/sql/database.ts';
import { FORGOTTEN_DAYS, forgottenDays } from '../../src/warehouse/query/forgotten-days.ts';
import { tonlake } from '../cli.ts';
import { hasShared, recordedAnswers } from '../client/shared.ts';
import { read } from '../decode/reading.ts';
import { freshFolder } from '../scratch.ts';
import { copyOf, damage, exportSandbox, registry, sqlFolder, texts } from './support.ts';

const checks = await loadChecks(registry);
let sound: string;
let folder: string;

beforeAll(async () => {
  sound = await exportSandbox('5000:5039', undefined, join(freshFolder(), 'w.duckdb'));
  await buildMarts(sound);
  folder = await exportSandbox('5000:5004', ['transactions']);
});

const one = (table: string, where = 'true') => `rowid = (SELECT min(rowid) FROM _rows.${table} WHERE ${where})`;

/** What breaks the rule of each check. */
const damages: Readonly<Record<string, string>> = {
  accepted_values: `UPDATE _rows.transactions SET end_status = 'gone' WHERE ${one('transactions')}`,
  accounts_sums: 'DELETE FROM _rows.accounts WHERE rowid = 0',
  actions_daily_sums: 'UPDATE _rows.actions_daily SET action_count = action_count + 1 WHERE rowid = 0',
  block_times_sums: 'UPDATE _rows.block_times SET tx_count = tx_count - 1 WHERE rowid = 0',
  block_tx_counts: `DELETE FROM _rows.transactions WHERE ${one('transactions')}`,
  gas_fees_daily_sums: 'UPDATE _rows.gas_fees_daily SET total_fees = total_fees + 1 WHERE rowid = 0',
  jetton_volumes_daily_sums: "UPDATE _rows.jetton_volumes_daily SET amount_text = amount_text || '0' WHERE rowid = 0",
  latest_balances_sums: `UPDATE _rows.latest_balances SET amount = amount + 1 WHERE ${one('latest_balances', "asset = 'TON'")}`,
  message_counts: `DELETE FROM _rows.messages WHERE ${one('messages', "direction = 'out'")}`,
  messages_by_opcode_daily_sums: 'UPDATE _rows.messages_by_opcode_daily SET value = value + 1 WHERE rowid = 0',
  messages_in_transactions: `UPDATE _rows.messages SET tx_hash = repeat('A', 43) || '=' WHERE ${one('messages')}`,
  nft_transfers_daily_sums: 'DELETE FROM _rows.nft_transfers_daily WHERE rowid = 0',
  not_null: `UPDATE _rows.messages SET value = NULL WHERE ${one('messages', 'source IS NOT NULL AND destination IS NOT NULL')}`,
  states_in_transactions: `UPDATE _rows.account_states SET balance = balance + 1 WHERE ${one('account_states', 'balance IS NOT NULL')}`,
  transaction_balances: `UPDATE _rows.transactions SET account_state_balance_after = account_state_balance_after + 1
    WHERE ${one('transactions', 'account_state_balance_before IS NOT NULL AND account_state_balance_after IS NOT NULL')}`,
  transactions_daily_sums: 'UPDATE _rows.transactions_daily SET tx_count = tx_count + 1 WHERE rowid = 0',
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
    const database = await Database.open(await copyOf(sound));
    try {
      await database.run(`CREATE TEMP VIEW ${FORGOTTEN_DAYS} AS ${forgottenDays([])}`);
      for (const { name, file } of checks) {
        await database.run('BEGIN TRANSACTION');
        await database.run(damages[name] ?? '');
        expect((await database.query(file.sql)).rows.length, name).toBeGreaterThan(0);
        await database.run('ROLLBACK');
        expect((await database.query(file.sql)).rows, name).toEqual([]);
      }
    } finally {
      database.close();
    }
  });

  test('has the offending rows in a table afterwards', async () => {
    const path = await copyOf(sound);
    await damage(path, damages['transaction_balances'] ?? '');
    const { passed, checks: results } = await runChecks(path, { names: ['transaction_balances', 'unique_keys'] });
    expect(passed).toBe(false);
    expect(results).toMatchObject([
      { name: 'transaction_balances', status: 'failed', offenders: 1 },
      { name: 'unique_keys', status: 'passed', offenders: 0 },
    ] satisfies readonly Partial<CheckResult>[]);
    const [[offender = ''] = []] = await texts(path, 'select offender from check_failures');
    expect(Object.keys(JSON.parse(offender) as object)).toEqual(['hash', 'account', 'expected', 'got']);
  });
});

test('the rows of a check that was repaired go, and those of checks that were not run stay', async () => {
  const path = await copyOf(sound);
  await damage(path, damages['transactions_daily_sums'] ?? '', damages['actions_daily_sums'] ?? '');
  await runChecks(path, { names: ['transactions_daily_sums', 'actions_daily_sums'] });
  await buildMarts(path, { names: ['transactions_daily'], full: true });
  expect((await runChecks(path, { names: ['transactions_daily_sums'] })).passed).toBe(true);
  expect(await texts(path, 'select distinct check_name from check_failures')).toEqual([['actions_daily_sums']]);
});

test.runIf(hasShared)('balances add up in every recorded transaction whose balances are known', async () => {
  // The server's own database holds invented balances.
  const bodies = ['/transactions', '/transactionsByMessage', '/adjacentTransactions']
    .flatMap(recordedAnswers)
    .filter(({ file }) => !file.includes('/server__'))
    .map(({ body }) => body);
  const rows: Record<'transactions' | 'messages', Map<string, unknown>> = {
    transactions: new Map(),
    messages: new Map(),
  };
  for (const body of bodies) {
    const { tables } = read(transactions, body);
    for (const row of tables['transactions'] ?? []) rows.transactions.set(String(row['hash']), row);
    for (const row of tables['messages'] ?? []) {
      rows.messages.set(`${String(row['tx_hash'])} ${String(row['msg_hash'])} ${String(row['direction'])}`, row);
    }
  }
  const database = await Database.open();
  try {
    for (const table of transactions.tables.slice(0, 2)) {
      const wanted = table.columns.filter(({ name }) =>
        /^(hash|account|total_fees|account_state_balance_\w+|tx_hash|direction|value|fwd_fee|ihr_fee)$/.test(name),
      );
      const name = table.name as 'transactions' | 'messages';
      const json = JSON.stringify([...rows[name].values()], (_, value: unknown) =>
        typeof value === 'bigint' ? String(value) : value,
      );
      const structure = Object.fromEntries(
        wanted.map(({ name: column, kind }) => [column, kind === 'decimal-int64' ? 'BIGINT' : 'VARCHAR']),
      );
      await database.run(
        `CREATE TABLE ${name} AS SELECT unnest(from_json($json, '${JSON.stringify([structure])}'), recursive := true)`,
        { json },
      );
    }
    const known = await database.query(
      'SELECT count(*) FROM transactions WHERE account_state_balance_before IS NOT NULL AND account_state_balance_after IS NOT NULL',
    );
    expect(Number(known.rows[0]?.[0])).toBeGreaterThan(10);
    const check = checks.find(({ name }) => name === 'transaction_balances');
    expect((await database.query(check?.file.sql ?? '')).rows).toEqual([]);
  } finally {
    database.close();
  }
});

describe('tonlake test', () => {
  test('prints a table, skips what cannot be checked, and ends with 0', async () => {
    const { code, stdout } = await tonlake(['test', '--warehouse', folder]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/│ transaction_balances +│ passed +│ +0 │/);
    expect(stdout).toMatch(
      /│ actions_daily_sums +│ skipped │ +│ the warehouse does not have (actions|actions_daily) +│/,
    );
    expect(stdout).toMatch(/\n9 passed, 0 failed, 9 skipped\n$/);
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
