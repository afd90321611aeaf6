import { expect, test } from 'vitest';
import transactions from '../../pipelines/transactions.ts';
import { loadChecks } from '../../src/marts/load-checks.ts';
import { Database } from '../../src/sql/database.ts';
import { hasShared, recordedAnswers } from '../client/shared.ts';
import { read } from '../decode/reading.ts';
import { registry } from './support.ts';

const checks = await loadChecks(registry);

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
    expect((await database.query(check?.parts[0]?.sql ?? '')).rows).toEqual([]);
  } finally {
    database.close();
  }
});
