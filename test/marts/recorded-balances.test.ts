import { expect, test } from 'vitest';
import transactions from '../../pipelines/transactions.ts';
import { loadChecks } from '../../src/marts/load-checks.ts';
import { loadMarts } from '../../src/marts/load-marts.ts';
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
        /^(hash|account|total_fees|account_state_balance_\w+|credit\w*|tx_hash|direction|value|fwd_fee|ihr_fee)$/.test(
          name,
        ),
      );
      const name = table.name as 'transactions' | 'messages';
      const json = JSON.stringify([...rows[name].values()], (_, value: unknown) =>
        typeof value === 'bigint' ? String(value) : value,
      );
      const structure = Object.fromEntries(
        wanted.map(({ name: column, kind }) => [column, kind.startsWith('decimal') ? 'DECIMAL(20,0)' : 'VARCHAR']),
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

interface Traced {
  readonly in_msg: { readonly opcode: string | null; readonly source: string | null } | null;
}

interface Swap {
  readonly type: string;
  readonly success: boolean;
  readonly action_id: string;
  readonly transactions: readonly string[];
  readonly details: { readonly dex: string };
}

test.runIf(hasShared)('recorded swaps have the pool that sent the payout', async () => {
  const traces = recordedAnswers('/traces').flatMap(
    ({ body }) =>
      (JSON.parse(body.toString()) as { traces: { transactions: Record<string, Traced>; actions: Swap[] | null }[] })
        .traces ?? [],
  );
  const messages = traces.flatMap(({ transactions: all }) =>
    Object.entries(all ?? {}).map(([tx_hash, { in_msg: message }]) => ({
      ...{ tx_hash, direction: 'in', source: message?.source ?? null, block_date: '2026-05-01' },
      opcode: message?.opcode === null || message === null ? null : Number(message.opcode) | 0,
    })),
  );
  const actions = traces
    .flatMap((trace) => trace.actions ?? [])
    .map((action) => ({ ...action, dex: action.details.dex }));
  const database = await Database.open();
  try {
    await database.run(
      `CREATE TABLE messages AS SELECT unnest(from_json($messages, '[{"tx_hash":"VARCHAR","direction":"VARCHAR","source":"VARCHAR","opcode":"INTEGER","block_date":"DATE"}]'), recursive := true)`,
      { messages: JSON.stringify(messages) },
    );
    const empty = ['trace_id', 'sender', 'source', 'pool', 'asset_in', 'asset_out', 'query_id', 'block_time'];
    const zero = ['end_utime', 'end_lt', 'swap_amount_in', 'swap_amount_out'];
    await database.run(
      `CREATE TABLE actions AS SELECT unnest(from_json($actions, '[{"type":"VARCHAR","success":"BOOLEAN","action_id":"VARCHAR","transactions":"JSON","dex":"VARCHAR"}]'), recursive := true),
      ${[...empty.map((name) => `'' AS ${name}`), ...zero.map((name) => `0 AS ${name}`), "DATE '2026-05-01' AS block_date"].join(', ').replace("'' AS pool", 'NULL::VARCHAR AS pool')}`,
      { actions: JSON.stringify(actions) },
    );
    const mart = (await loadMarts(registry)).find(({ name }) => name === 'dex_swaps');
    const { rows } = await database.query(
      `SELECT project, version, count(*) > 0, bool_and(pool_address IS NOT NULL), bool_and(pool_address IN (SELECT source FROM messages WHERE opcode IS NOT NULL))
       FROM (${mart?.file.sql}) WHERE project IN ('dedust', 'stonfi') GROUP BY ALL ORDER BY ALL`,
    );
    expect(rows).toEqual([
      ['dedust', null, true, true, true],
      ['stonfi', '2', true, true, true],
      ['stonfi', null, true, true, true],
    ]);
  } finally {
    database.close();
  }
});
