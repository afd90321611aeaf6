import { describe, expect, it } from 'vitest';
import transactions from '../../pipelines/transactions.ts';
import { explainRefusal } from '../../src/decode/explain-refusal.ts';
import { readAnswer } from '../fixtures.ts';
import { read } from './reading.ts';

type Json = { [name: string]: unknown };
const answer = JSON.parse(readAnswer('transactions', 'transactionsByMasterchainBlock').toString()) as {
  transactions: Json[];
};
const count = answer.transactions.length;
const at = answer.transactions.findIndex(
  (record) => (record['out_msgs'] as Json[]).length > 0 && record['in_msg'] !== null,
);

/** The genuine page, one record of it changed. */
function pageWith(change: (record: Json) => void): Buffer {
  const page = structuredClone(answer);
  change(page.transactions[at] as Json);
  return Buffer.from(JSON.stringify(page));
}

function inside(record: Json, ...names: readonly (string | number)[]): Json {
  return names.reduce<Json>((value, name) => value[name] as Json, record);
}

const clean = read(
  transactions,
  pageWith(() => undefined),
);
const hashes = clean.tables['transactions']?.map((row) => row['hash']) ?? [];

describe('a record that does not fit', () => {
  const cases: readonly [string, (record: Json) => void, string, string][] = [
    [
      'a number for a decimal string',
      (r) => Object.assign(r, { lt: 17 }),
      '/lt',
      'expected a decimal string (decimal-int64), got 17 (number)',
    ],
    [
      'a required field that is null',
      (r) => Object.assign(r, { account: null }),
      '/account',
      'expected a string, got null',
    ],
    [
      'a required field that is missing',
      (r) => delete r['hash'],
      '/hash',
      'expected a base64 hash of 44 characters, got nothing',
    ],
    [
      'a required object that is missing',
      (r) => delete r['block_ref'],
      '/block_ref',
      'expected an object, got nothing',
    ],
    [
      'a field of a nested object',
      (r) => Object.assign(inside(r, 'block_ref'), { seqno: '5' }),
      '/block_ref/seqno',
      'expected an integer (int32), got "5" (string)',
    ],
    [
      'a value of 80 characters, which is shown whole',
      (r) => Object.assign(r, { lt: 'x'.repeat(78) }),
      '/lt',
      `expected a decimal string (decimal-int64), got "${'x'.repeat(78)}" (string)`,
    ],
    [
      'a longer value',
      (r) => Object.assign(r, { lt: 'x'.repeat(79) }),
      '/lt',
      `expected a decimal string (decimal-int64), got "${'x'.repeat(79)}… (string)`,
    ],
    [
      'an array for an object',
      (r) => Object.assign(r, { description: [] }),
      '/description',
      'expected an object, got [] (array)',
    ],
    [
      'the incoming message',
      (r) => Object.assign(inside(r, 'in_msg'), { value: '1.5' }),
      '/in_msg/value',
      'expected a decimal string (decimal-int64), got "1.5" (string)',
    ],
    [
      'an outgoing message',
      (r) => Object.assign(inside(r, 'out_msgs', 0), { hash: 'short' }),
      '/out_msgs/0/hash',
      'expected a base64 hash of 44 characters, got "short" (string)',
    ],
    [
      'a message that is no object',
      (r) => Object.assign(r, { out_msgs: [5] }),
      '/out_msgs/0',
      'expected an object, got 5 (number)',
    ],
    [
      'messages that are no list',
      (r) => Object.assign(r, { out_msgs: {} }),
      '/out_msgs',
      'expected an array of objects, got {} (object)',
    ],
    [
      'a state after the transaction',
      (r) => Object.assign(inside(r, 'account_state_after'), { balance: '9223372036854775808' }),
      '/account_state_after/balance',
      'expected a decimal string (decimal-int64), got "9223372036854775808" (string)',
    ],
  ];

  it.each(cases)('%s: none of its rows stay, those of its neighbours do', (_, change, pointer, reason) => {
    const reading = read(transactions, pageWith(change));
    expect(reading.records).toBe(count);
    expect(reading.refused).toHaveLength(1);
    const [record] = reading.refused;
    if (record === undefined) return;
    expect(explainRefusal(transactions, record)).toEqual({ pointer: `/transactions/${at}${pointer}`, reason });
    const bad = hashes[at];
    expect(reading.tables).toEqual({
      transactions: clean.tables['transactions']?.filter((row) => row['hash'] !== bad),
      messages: clean.tables['messages']?.filter((row) => row['tx_hash'] !== bad),
      account_states: clean.tables['account_states']?.filter((row) => row['last_trans_hash'] !== bad),
    });
  });

  it('is kept as it was sent', () => {
    const page = pageWith((record) => Object.assign(record, { lt: 17 }));
    const [record] = read(transactions, page).refused;
    expect(record?.index).toBe(at);
    expect(page.includes(record?.raw ?? 'nothing')).toBe(true);
    expect(JSON.parse(record?.raw ?? '')).toMatchObject({ lt: 17 });
  });

  it('that is no object at all is refused alone', () => {
    const page = `{"transactions":[5,${JSON.stringify(answer.transactions[at])},null,[],"x"]}`;
    const { refused, tables } = read(transactions, page);
    expect(refused.map((record) => explainRefusal(transactions, record))).toEqual([
      { pointer: '/transactions/0', reason: 'expected an object, got 5 (number)' },
      { pointer: '/transactions/2', reason: 'expected an object, got null' },
      { pointer: '/transactions/3', reason: 'expected an object, got [] (array)' },
      { pointer: '/transactions/4', reason: 'expected an object, got "x" (string)' },
    ]);
    expect(tables['transactions']).toEqual([clean.tables['transactions']?.[at]]);
  });

  it('a number beyond 2^53 is shown as it was sent', () => {
    const page = JSON.stringify({ transactions: [answer.transactions[at]] }).replace(
      /"now":\d+/,
      '"now":12345678901234567891',
    );
    const { refused } = read(transactions, page);
    expect(refused.map((record) => explainRefusal(transactions, record).reason)).toEqual([
      'expected an integer (unix-seconds), got 12345678901234567891 (number)',
    ]);
  });

  it('a value that holds a raw control character can be explained', () => {
    const page = JSON.stringify({ transactions: [{ ...answer.transactions[at], lt: 'x#y' }] }).replace(
      'x#y',
      'x\u0001y',
    );
    const { refused } = read(transactions, page);
    expect(refused.map((record) => explainRefusal(transactions, record).reason)).toEqual([
      'expected a decimal string (decimal-int64), got "x\\u0001y" (string)',
    ]);
  });

  it('the first of several faults in the order of the declaration is named', () => {
    const reading = read(
      transactions,
      pageWith((record) => Object.assign(record, { lt: 1, hash: 2, account: 3 })),
    );
    expect(reading.refused.map((record) => explainRefusal(transactions, record).pointer)).toEqual([
      `/transactions/${at}/account`,
    ]);
  });
});

describe('an unknown field', () => {
  it('is kept on the nearest row and counted by table and pointer', () => {
    const page = pageWith((record) => {
      record['surprise'] = { a: 1 };
      inside(record, 'description')['new_ph'] = [1, 'x'];
      inside(record, 'in_msg')['flag'] = true;
      inside(record, 'out_msgs', 0, 'message_content')['extra'] = null;
    });
    const { tables, unknown, refused } = read(
      transactions,
      Buffer.from(page.toString().replace(/\}$/, ',"took_ms":5}')),
    );
    expect(refused).toEqual([]);
    const extras = (table: string) => tables[table]?.flatMap((row) => (row['_extra'] === null ? [] : [row['_extra']]));
    expect(extras('transactions')?.map((text) => JSON.parse(String(text)))).toEqual([
      { '/description/new_ph': [1, 'x'], '/surprise': { a: 1 } },
    ]);
    expect(extras('messages')).toEqual(['{"/flag":true}', '{"/message_content/extra":null}']);
    expect(Object.fromEntries(unknown)).toEqual({
      'transactions /surprise': 1,
      'transactions /description/new_ph': 1,
      'messages /flag': 1,
      'messages /message_content/extra': 1,
      'envelope /took_ms': 1,
    });
  });
});
