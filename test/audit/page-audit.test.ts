import { describe, expect, test } from 'vitest';
import { PageAudit, type PageConditions } from '../../src/audit/page-audit.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { Decoder } from '../../src/decode/decoder.ts';
import { chooseCopies, keyOf } from '../../src/decode/row-keys.ts';

const registry = await loadRegistry();
const account = (letter: string): string => `0:${letter.repeat(64)}`;
const ANY: PageConditions = { requested: [], isUnique: false };

/** The pages of a list as they come, each a list of accounts, audited one by one. */
function auditOf(pipeline: string) {
  const decoder = new Decoder(registry.pipeline(pipeline));
  const audit = new PageAudit(registry.pipeline(pipeline), decoder);
  return (body: unknown, conditions: Partial<PageConditions>): readonly string[] => {
    const from = decoder.records;
    const { records } = decoder.decode(Buffer.from(JSON.stringify(body)));
    return audit.check({ ...ANY, ...conditions }, { from, to: decoder.records, records }).without;
  };
}

const accounts = (...letters: readonly string[]) =>
  letters.map((letter) => ({ account: account(letter), balance: '1' }));

describe('a page of a list', () => {
  const pageOf = (isContinued: boolean) => ({ page: { list: 'a', isContinued } });

  test.each([
    ['the first page', ['A', 'B']],
    ['the page before', ['C', 'D']],
    ['both', ['A', 'D']],
  ])('that repeats %s is refused', (_, letters) => {
    const check = auditOf('top_accounts');
    check(accounts('A', 'B'), pageOf(false));
    check(accounts('C', 'D'), pageOf(true));
    expect(() => check(accounts(...letters), pageOf(true))).toThrow(
      'audit top_accounts: expected other rows than in the pages before, got the same again',
    );
  });

  test('may begin with the last rows of the page before, because rows were added to the list', () => {
    const check = auditOf('top_accounts');
    check(accounts('A', 'B'), pageOf(false));
    check(accounts('B', 'C'), pageOf(true));
    check(accounts('C'), pageOf(true));
    check(accounts(), pageOf(true));
  });

  test('may repeat rows if the list is read again from its beginning', () => {
    const check = auditOf('top_accounts');
    check(accounts('A', 'B'), pageOf(false));
    check(accounts('A', 'B'), pageOf(false));
  });

  test('with one key twice is refused where each row has its own', () => {
    const check = auditOf('top_accounts');
    expect(() => check(accounts('A', 'A'), { isUnique: true, block: 7 })).toThrow(
      `audit top_accounts 7: expected rows with keys of their own, got two with account ${account('A')}`,
    );
  });
});

describe('rows of keys', () => {
  const keys = (values: readonly string[], more = {}) => ({
    requested: [{ kind: 'keys', columns: ['account'], values, ...more } as const],
  });

  test('are those that were requested, in whatever form; keys without a row are named', () => {
    const friendly = 'EQCqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqseb';
    const asked = [account('a'), account('B'), 'EQDMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzDA5'];
    const check = auditOf('top_accounts');
    expect(check(accounts('A', 'C'), keys(asked))).toEqual([account('B')]);
    expect(check(accounts('A'), keys([friendly]))).toEqual([]);
  });

  test('that were not requested are refused, unless others may come', () => {
    const check = auditOf('top_accounts');
    const message = `audit top_accounts: expected rows with account ${account('A')}, or 1 others, got one with ${account('C')}`;
    expect(() => check(accounts('A', 'C'), keys([account('A'), account('B')]))).toThrow(message);
    expect(check(accounts('A', 'C'), keys([account('A')], { hasOthers: true }))).toEqual([]);
  });

  test('are found in columns that list them', () => {
    const check = auditOf('multisig_wallets');
    const wallet = (address: string, signers: readonly string[], proposers: readonly string[]) => ({
      ...{ address: account(address), next_order_seqno: '1', threshold: 1, last_transaction_lt: '1' },
      ...{ signers: signers.map(account), proposers: proposers.map(account), code_hash: null, data_hash: null },
    });
    const asked = { requested: [{ kind: 'keys', columns: ['signers', 'proposers'], values: [account('A')] } as const] };
    const both = [wallet('1', ['B', 'A'], []), wallet('2', ['B'], ['A'])];
    expect(check({ multisigs: both }, asked)).toEqual([]);
    // A message has a sender and a receiver: one of them is not enough.
    for (const one of both) expect(check({ multisigs: [one] }, asked)).toEqual([account('A')]);
    expect(() => check({ multisigs: [wallet('3', ['B'], ['C'])] }, asked)).toThrow(
      'expected rows with signers or proposers',
    );
  });
});

test('a user-friendly address of another account is refused, and one with a wrong checksum', () => {
  const check = auditOf('address_book');
  const book = (friendly: string) => ({ [account('A')]: { user_friendly: friendly, domain: null, interfaces: [] } });
  const right = 'EQCqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqseb';
  check(book(right), {});
  for (const wrong of ['EQDMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzDA5', right.replace('q', 'w'), account('A')]) {
    expect(() => check(book(wrong), {})).toThrow(`expected user_friendly as a form of ${account('A')}, got ${wrong}`);
  }
});

test('answers by position are as many as the parts of the request', () => {
  const check = auditOf('decoded_messages');
  const bodies = { bodies: [{ '@type': 'a' }, { '@type': 'b' }] };
  check(bodies, { count: 2 });
  expect(() => check(bodies, { count: 3 })).toThrow('audit decoded_messages: expected 3 answers, got 2');
  expect(() => check({ bodies: null }, { count: 1 })).toThrow('audit decoded_messages: expected 1 answers, got 0');
});

test('rows outside of their window are refused', () => {
  const check = auditOf('top_accounts');
  const within = { requested: [{ kind: 'within', column: 'balance', from: 10n, to: 20n } as const] };
  const rows = (balance: string) => [{ account: account('A'), balance }];
  check(rows('10'), within);
  check(rows('20'), within);
  for (const wrong of ['9', '21', '-15']) {
    expect(() => check(rows(wrong), within)).toThrow(`expected rows with balance 10 to 20, got one with ${wrong}`);
  }
});

test('keys of several columns are equal only if each column is', () => {
  const decoder = new Decoder(registry.pipeline('get_method_results'));
  const given = [
    { address: 'a', method: 'b|c', stack: 'd' },
    { address: 'a|b', method: 'c', stack: 'd' },
    { address: 'a', method: null, stack: 'd' },
    { address: 'a', method: '', stack: 'd' },
  ];
  for (const each of given) {
    decoder.decode(Buffer.from(JSON.stringify({ gas_used: 1, exit_code: 0, stack: [] })), each);
  }
  const key = ['address', 'method', 'arguments'];
  const textOf = keyOf(decoder, key);
  expect(new Set([0, 1, 2, 3].map(textOf)).size).toBe(4);
  expect([...chooseCopies(decoder, Int32Array.of(0, 1, 2, 3), { key, keep: 'first' })]).toEqual([0, 1, 2, 3]);
});
