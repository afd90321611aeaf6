import { afterAll, describe, expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/index.ts';
import { readFacts } from '../facts.ts';
import { Checker, isNode, type Node } from './checker.ts';
import { type Answer, ask, HAS_SHARED, readShared } from './support.ts';

const sandbox = await startSandbox({ blocks: 1000 });
afterAll(() => sandbox.close());

describe.skipIf(!HAS_SHARED)('answers compared with ../shared (skipped where it is missing)', () => {
  it('every block, transaction and message is what records.json says', async () => {
    const checker = new Checker();
    for (let seqno = 1; seqno <= 260; seqno += 1) {
      const { body } = await ask(sandbox, `/transactionsByMasterchainBlock?seqno=${seqno}&limit=1000`);
      const { transactions, address_book: book } = JSON.parse(body);
      for (const row of transactions) checker.check('Transaction', row, `${seqno}/${row.hash}`);
      for (const [address, row] of Object.entries(book)) checker.check('AddressBookRow', row, address);
      const shards = JSON.parse((await ask(sandbox, `/masterchainBlockShards?seqno=${seqno}&limit=1000`)).body);
      for (const row of shards.blocks) checker.check('Block', row, `${seqno}/${row.shard}`);
    }
    const page = JSON.parse((await ask(sandbox, '/messages?limit=1000&start_lt=1&sort=asc')).body);
    for (const row of page.messages) checker.check('Message', row, row.hash);
    for (const [address, row] of Object.entries(page.metadata)) checker.check('AddressMetadata', row, address);
    expect(checker.problems.slice(0, 20)).toEqual([]);
  });

  it('phases and message fields are present as records.json tells by type and kind', async () => {
    const { presence_by_description_type: phases, presence_by_message_kind: kinds } = readFacts<Answer>('records');
    const { transactions } = JSON.parse((await ask(sandbox, '/transactions?limit=1000&offset=3000')).body);
    for (const row of transactions) {
      const { always, optional } = phases[row.description.type];
      const keys = Object.keys(row.description).filter((key) => key !== 'type');
      for (const key of always) expect(keys).toContain(key);
      for (const key of keys) expect([...always, ...optional]).toContain(key);
      for (const message of [...row.out_msgs, ...(row.in_msg === null ? [] : [row.in_msg])]) {
        const kind =
          kinds[message.source === null ? 'external_in' : message.destination === null ? 'external_out' : 'internal'];
        for (const key of kind.set) expect([message.hash, key, message[key]]).not.toEqual([message.hash, key, null]);
        for (const key of kind.null) expect([message.hash, key, message[key]]).toEqual([message.hash, key, null]);
      }
    }
  });

  it('keys come in the order in which the genuine server sends them', async () => {
    const seen = new Set<string>();
    const names = [
      'blocks/server__1',
      'masterchainBlockShardState/server__1',
      'transactionsByMasterchainBlock/server__1',
    ];
    for (const name of [...names, 'transactions/server__1', 'messages/server__1']) {
      eachPair(readShared(`fixtures/${name}.json`), '', (place, before, after) =>
        seen.add(`${place}: ${before} ${after}`),
      );
    }
    const problems: string[] = [];
    for (const path of ['/blocks?limit=50', '/transactions?limit=1000&sort=asc', '/messages?limit=200&start_lt=1']) {
      eachPair(JSON.parse((await ask(sandbox, path)).body), '', (place, before, after) => {
        const known = seen.has(`${place}: ${after} ${before}`) && !seen.has(`${place}: ${before} ${after}`);
        if (known) problems.push(`${place}: ${before} before ${after}`);
      });
    }
    expect(problems.slice(0, 5)).toEqual([]);
  });

  it('key sets of rows equal those of the genuine server', async () => {
    const keysOf = (row: Node): string => Object.keys(row).join(' ');
    const theirs = readShared('fixtures/transactionsByMasterchainBlock/server__1.json');
    const ours = JSON.parse((await ask(sandbox, '/transactionsByMasterchainBlock?seqno=60&limit=1000')).body);
    expect(Object.keys(ours)).toEqual(Object.keys(theirs));
    expect(new Set(ours.transactions.map(keysOf))).toEqual(new Set(theirs.transactions.map(keysOf)));
    const block = readShared('fixtures/blocks/server__1.json').blocks[0];
    const blocks = JSON.parse((await ask(sandbox, '/blocks?limit=100')).body).blocks;
    expect(new Set(blocks.map(keysOf))).toEqual(new Set([keysOf(block)]));
    expect(Object.keys(JSON.parse((await ask(sandbox, '/masterchainInfo')).body))).toEqual(['last', 'first']);
  });
});

/** Calls with every two keys of every object, in their order; maps with free keys are left out. */
function eachPair(value: unknown, place: string, found: (place: string, before: string, after: string) => void): void {
  if (Array.isArray(value)) for (const one of value) eachPair(one, place, found);
  if (!isNode(value) || /(address_book|metadata|decoded|currencies)$/.test(place)) return;
  const keys = Object.keys(value);
  keys.forEach((key, index) => {
    for (const before of keys.slice(0, index)) found(place, before, key);
    eachPair(value[key], `${place}/${key}`, found);
  });
}
