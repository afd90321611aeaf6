import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import transactions from '../../pipelines/transactions.ts';
import { expectedMessages, MessageAudit } from '../../src/audit/message-counts.ts';
import { Decoder } from '../../src/decode/decoder.ts';
import { goldenCases, hasShared, readAnswer, sharedFixtures } from '../fixtures.ts';

/** Transactions of a page, and what their messages lack. */
function audit(page: Uint8Array): { readonly records: number; readonly faults: readonly string[] } {
  const decoder = new Decoder(transactions);
  decoder.decode(page);
  const faults: string[] = [];
  const messages = MessageAudit.of(decoder);
  messages?.begin();
  for (let row = 0; row < decoder.records; row++) messages?.add(row, (_, reason) => faults.push(reason));
  return { records: decoder.records, faults };
}

test.each([
  ['one received by an ordinary one', 'ord', true, 0, false, { received: 1, sent: 0 }],
  ['none of a tick-tock', 'tick_tock', true, 0, false, { received: 0, sent: 0 }],
  ['those that the action phase created', 'ord', true, 3, false, { received: 1, sent: 3 }],
  ['the one that bounced', 'ord', false, 0, true, { received: 1, sent: 1 }],
  ['none that a failed action phase had created before it failed', 'ord', false, 2, false, { received: 1, sent: 0 }],
  ['the one that bounced after such a failure', 'ord', false, 2, true, { received: 1, sent: 1 }],
  ['unknown for a type that never occurred on chain', 'merge_prepare', true, 0, false, undefined],
  ['unknown without a type', undefined, true, 0, false, undefined],
])('the messages that a transaction must have are %s', (_, type, isDone, created, isBounced, expected) => {
  expect(expectedMessages({ type, isDone, created, isBounced })).toEqual(expected);
});

describe('transactions as a genuine server sent them', () => {
  interface Sent {
    in_msg: unknown;
    out_msgs: readonly unknown[];
  }
  const rows = goldenCases('transactions').flatMap(({ name }): readonly Sent[] => {
    return JSON.parse(readAnswer('transactions', name).toString()).transactions;
  });
  const faultsOf = (row: Sent) => audit(Buffer.from(JSON.stringify({ transactions: [row] }))).faults;
  const senders = rows.filter((row) => row.out_msgs.length > 0);
  const receivers = rows.filter((row) => row.in_msg !== null);

  test('have all their messages', () => {
    expect(rows.flatMap(faultsOf)).toEqual([]);
    expect(Math.min(senders.length, receivers.length)).toBeGreaterThan(3);
  });

  test('lack each message that is taken out', () => {
    const lacking = [
      ...senders.map((row) => ({ ...row, out_msgs: row.out_msgs.slice(1) })),
      ...receivers.map((row) => ({ ...row, in_msg: null })),
    ];
    for (const row of lacking)
      expect(faultsOf(row)).toEqual([
        expect.stringMatching(/^expected \d+ (sent|received) messages of transaction \S{44}, got \d+$/),
      ]);
  });

  test('may not tell one message twice in the place of another', () => {
    const doubled = senders
      .filter((row) => row.out_msgs.length > 1)
      .map((row) => ({ ...row, out_msgs: row.out_msgs.map(() => row.out_msgs[0]) }));
    expect(doubled.length).toBeGreaterThan(0);
    for (const row of doubled) expect(faultsOf(row)[0]).toMatch(/^expected message \S{44} sent once, got it twice$/);
  });
});

describe.skipIf(!hasShared)('the recorded answers in ../shared/fixtures', () => {
  const lists = ['transactions', 'transactionsByMasterchainBlock', 'adjacentTransactions'];

  test('are some of each kind', () => {
    for (const list of [...lists, 'traces']) expect(sharedFixtures([list]), list).not.toEqual([]);
  });

  test.each([...sharedFixtures(lists)])('$name: every transaction has all its messages', ({ path }) => {
    const body = readFileSync(path);
    const { records, faults } = audit(body);
    expect(faults).toEqual([]);
    expect(records).toBe(JSON.parse(body.toString()).transactions.length);
  });

  test.each([...sharedFixtures(['traces'])])('$name: so has every transaction of its traces', ({ path }) => {
    const answer: { traces: { transactions: Record<string, unknown> }[] } = JSON.parse(readFileSync(path, 'utf8'));
    const rows = answer.traces.flatMap((trace) => Object.values(trace.transactions ?? {}));
    const { records, faults } = audit(Buffer.from(JSON.stringify({ transactions: rows })));
    expect(faults).toEqual([]);
    expect(records).toBe(rows.length);
  });
});
