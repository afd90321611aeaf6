import { afterAll, describe, expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/index.ts';
import {
  ask,
  askBlocks,
  askMessages,
  askTransactions,
  type Block,
  nameOf,
  readRange,
  type Transaction,
  transactionsOf,
} from './support.ts';

const sandbox = await startSandbox({ blocks: 1000 });
const { blocks, transactions } = await readRange(sandbox, 300, 330);
afterAll(() => sandbox.close());

const byLtThenAccount = (a: Transaction, b: Transaction): number =>
  Number(BigInt(a.lt) - BigInt(b.lt)) || (a.account < b.account ? -1 : 1);
const byLtDownThenAccount = (a: Transaction, b: Transaction): number =>
  Number(BigInt(b.lt) - BigInt(a.lt)) || (a.account < b.account ? -1 : 1);
const hashes = (rows: readonly { hash: string }[]): string[] => rows.map((row) => row.hash);

describe('transactions', () => {
  it('of a masterchain block come by lt and account, descending unless asked otherwise', async () => {
    const asc = await transactionsOf(sandbox, 310);
    expect(asc).toEqual([...asc].sort(byLtThenAccount));
    const desc = JSON.parse(
      (await ask(sandbox, '/transactionsByMasterchainBlock?seqno=310&limit=1000')).body,
    ).transactions;
    expect(hashes(desc)).toEqual(hashes([...asc].sort(byLtDownThenAccount)));
  });

  it('of an lt window are those of the blocks, none lost and none doubled', async () => {
    const lts = transactions.map((row) => BigInt(row.lt)).sort((a, b) => Number(a - b));
    const [from, to] = [lts[60] ?? 0n, lts[lts.length - 60] ?? 0n];
    const expected = transactions.filter((row) => BigInt(row.lt) >= from && BigInt(row.lt) <= to).sort(byLtThenAccount);
    const window: Transaction[] = [];
    for (let offset = 0; window.length === offset; offset += 97) {
      window.push(
        ...(await askTransactions(sandbox, `start_lt=${from}&end_lt=${to}&sort=asc&limit=97&offset=${offset}`)),
      );
    }
    expect(hashes(window)).toEqual(hashes(expected));
    const desc = await askTransactions(sandbox, `start_lt=${from}&end_lt=${to}`);
    expect(hashes(desc)).toEqual(hashes([...expected].sort(byLtDownThenAccount).slice(0, 1000)));
  });

  it('of a time window are those of the blocks made in it, both ends included', async () => {
    const [from, to] = [Number(transactions[0]?.now) + 3, Number(transactions[0]?.now) + 5];
    const expected = transactions.filter((row) => row.now >= from && row.now <= to).sort(byLtThenAccount);
    expect(hashes(await askTransactions(sandbox, `start_utime=${from}&end_utime=${to}.9&sort=a`))).toEqual(
      hashes(expected),
    );
  });

  it('are found by hash, account, lt, block and any of these together', async () => {
    const row = transactions[200];
    if (row === undefined) throw new Error('too few rows');
    const hash = encodeURIComponent(row.hash);
    expect(hashes(await askTransactions(sandbox, `hash=${hash}`))).toEqual([row.hash]);
    expect(hashes(await askTransactions(sandbox, `hash=${Buffer.from(row.hash, 'base64').toString('hex')}`))).toEqual([
      row.hash,
    ]);
    expect(await askTransactions(sandbox, `hash=${hash}&mc_seqno=${row.mc_block_seqno + 1}`)).toEqual([]);
    expect(hashes(await askTransactions(sandbox, `account=${row.account.toLowerCase()}&lt=${row.lt}`))).toEqual([
      row.hash,
    ]);
    const { workchain, shard, seqno } = row.block_ref;
    const inBlock = await askTransactions(sandbox, `workchain=${workchain}&shard=0x${shard}&seqno=${seqno}`);
    expect(hashes(inBlock).sort()).toEqual(
      hashes(transactions.filter((one) => nameOf(one.block_ref) === nameOf(row.block_ref))).sort(),
    );
    const signed = BigInt.asIntN(64, BigInt(`0x${shard}`));
    expect(await askTransactions(sandbox, `shard=${signed}&seqno=${seqno}`)).toHaveLength(inBlock.length);
    const atLt = await askTransactions(sandbox, `lt=${row.lt}`);
    expect(atLt.map((one) => one.account)).toEqual(
      atLt
        .map((one) => one.account)
        .sort()
        .reverse(),
    );
  });

  it('of one account are listed over the whole chain', async () => {
    const wallet = transactions.find((row) => row.in_msg?.source === null)?.account;
    const listed = await askTransactions(sandbox, `account=${wallet}&sort=asc`);
    expect(listed).toEqual([...listed].sort(byLtThenAccount));
    expect(listed.slice(1).every((row, index) => row.prev_trans_hash === listed[index]?.hash)).toBe(true);
    const born = transactions.find((row) => row.orig_status === 'nonexist')?.account;
    const life = await askTransactions(sandbox, `account=${born}&sort=asc`);
    expect(life[0]?.orig_status).toBe('nonexist');
    expect(await askTransactions(sandbox, `account=${born},${wallet}`)).toHaveLength(life.length + listed.length);
    expect(await askTransactions(sandbox, `account=0:${'0'.repeat(64)}`)).toEqual([]);
  });

  it('are paged by offset over the whole listing', async () => {
    const deep = await askTransactions(sandbox, 'sort=asc&offset=12000&limit=5');
    const first = await askTransactions(sandbox, 'sort=asc&offset=11995&limit=10');
    expect(hashes(first).slice(5)).toEqual(hashes(deep));
  });
});

describe('blocks', () => {
  it('of a window are those whose start lies in it, for both bounds', async () => {
    const [from, to] = ['66000620000000', '66000640000000'];
    const found = await askBlocks(sandbox, `start_lt=${from}&end_lt=${to}`);
    const expected = blocks.filter((block) => block.start_lt >= from && block.start_lt <= to);
    expect(found.map(nameOf).sort()).toEqual(expected.map(nameOf).sort());
  });

  it('with sort come by time, and ties come in another order each time', async () => {
    const orders = new Set<string>();
    for (let count = 0; count < 8; count += 1) {
      const found = await askBlocks(sandbox, 'mc_seqno=310&sort=asc');
      const times = found.map((block) => block.gen_utime);
      expect(times).toEqual([...times].sort());
      orders.add(found.map(nameOf).join());
    }
    expect(orders.size).toBeGreaterThan(1);
  });

  it('are found by workchain, shard, seqno and by either hash', async () => {
    const block = blocks.find((one) => one.workchain === 0 && one.tx_count > 0);
    if (block === undefined) throw new Error('no block');
    const query = `workchain=0&shard=${block.shard}&seqno=${block.seqno}`;
    expect((await askBlocks(sandbox, query)).map(nameOf)).toEqual([nameOf(block)]);
    expect((await askBlocks(sandbox, `root_hash=${encodeURIComponent(block.root_hash)}`)).map(nameOf)).toEqual([
      nameOf(block),
    ]);
    const both = `file_hash=${encodeURIComponent(block.file_hash)}&root_hash=${encodeURIComponent(block.root_hash)}`;
    expect((await askBlocks(sandbox, both)).map(nameOf)).toEqual([nameOf(block)]);
    expect(await askBlocks(sandbox, `root_hash=${encodeURIComponent(block.file_hash)}`)).toEqual([]);
  });

  it('of the shard state are the newest of each shard, by signed shard id, and bound a safe horizon', async () => {
    for (const seqno of [305, 310, 320]) {
      const state: Block[] = JSON.parse((await ask(sandbox, `/masterchainBlockShardState?seqno=${seqno}`)).body).blocks;
      expect(nameOf(state[0] ?? { workchain: 0, shard: '', seqno: 0 })).toBe(`-1:8000000000000000:${seqno}`);
      const shards = state.slice(1).map((block) => BigInt.asIntN(64, BigInt(`0x${block.shard}`)));
      expect(shards).toEqual([...shards].sort((a, b) => (a < b ? -1 : 1)));
      const sizes = state.slice(1).map((block) => BigInt(`0x${block.shard}`) & -BigInt(`0x${block.shard}`));
      expect(sizes.reduce((sum, size) => sum + 2n * size, 0n)).toBe(1n << 64n);
      const newest = blocks.filter((block) => block.masterchain_block_ref.seqno <= seqno && block.workchain === 0);
      const later = newest.filter((block) => state.some((one) => one.shard === block.shard && one.seqno < block.seqno));
      expect(later).toEqual([]);
      const horizon = state.reduce(
        (least, block) => (BigInt(block.end_lt) < least ? BigInt(block.end_lt) : least),
        1n << 63n,
      );
      const beyond = transactions.filter((row) => BigInt(row.lt) < horizon && row.mc_block_seqno > seqno);
      expect(beyond).toEqual([]);
    }
  });
});

describe('messages', () => {
  const [from, to] = ['66000640000000', '66000650000000'];

  it('of a window come by creation and hash, each once with both transactions', async () => {
    const listed = await askMessages(sandbox, `start_lt=${from}&end_lt=${to}&sort=asc`);
    const sent = transactions
      .flatMap((row) => row.out_msgs)
      .filter((one) => (one.created_lt ?? '') >= from && (one.created_lt ?? '') <= to);
    expect(hashes(listed).sort()).toEqual(hashes(sent).sort());
    const keys = listed.map((one) => `${one.created_lt} ${one.hash}`);
    expect(keys).toEqual([...keys].sort());
    const producer = new Map(transactions.flatMap((row) => row.out_msgs.map((one) => [one.hash, row.hash] as const)));
    expect(listed.every((one) => one.out_msg_tx_hash === producer.get(one.hash))).toBe(true);
    expect(listed.filter((one) => one.in_msg_tx_hash !== undefined).length).toBeGreaterThan(10);
  });

  it('hide the other side when a direction is asked for', async () => {
    const inward = await askMessages(sandbox, `start_lt=${from}&end_lt=${to}&direction=in`);
    expect(inward.every((one) => one.in_msg_tx_hash !== undefined && one.out_msg_tx_hash === undefined)).toBe(true);
    const outward = await askMessages(sandbox, `start_lt=${from}&end_lt=${to}&direction=out`);
    expect(outward.every((one) => one.in_msg_tx_hash === undefined && one.out_msg_tx_hash !== undefined)).toBe(true);
    expect(outward.length).toBeGreaterThan(inward.length);
  });

  it('from outside have no creation and come first when descending, last when ascending', async () => {
    const first = await askMessages(sandbox, 'limit=5');
    expect(first.map((one) => one.created_lt)).toEqual([null, null, null, null, null]);
    expect(hashes(first)).toEqual(hashes(first).sort().reverse());
    expect((await askMessages(sandbox, 'limit=5&exclude_externals=true')).every((one) => one.created_lt !== null)).toBe(
      true,
    );
    expect((await askMessages(sandbox, 'limit=5&sort=asc')).every((one) => one.created_lt !== null)).toBe(true);
    expect((await askMessages(sandbox, 'limit=5&only_externals=1&sort=asc')).every((one) => one.source === null)).toBe(
      true,
    );
    expect(await askMessages(sandbox, 'only_externals=1&start_lt=1')).toEqual([]);
    expect((await askMessages(sandbox, 'limit=5&source=null')).every((one) => one.source === null)).toBe(true);
    expect((await askMessages(sandbox, 'limit=5&destination=null')).every((one) => one.destination === null)).toBe(
      true,
    );
  });

  it('are found by hash, normalized hash, body and opcode', async () => {
    const message = transactions.map((row) => row.in_msg).find((one) => one?.hash_norm !== undefined);
    if (message?.hash_norm === undefined) throw new Error('no external');
    for (const hash of [message.hash, message.hash_norm]) {
      expect(hashes(await askMessages(sandbox, `msg_hash=${encodeURIComponent(hash)}`))).toEqual([message.hash]);
    }
    expect(hashes(await askMessages(sandbox, `hash=${encodeURIComponent(message.hash)}`))).toEqual([message.hash]);
    const body = encodeURIComponent(message.message_content.hash);
    expect(hashes(await askMessages(sandbox, `body_hash=${body}`))).toContain(message.hash);
    const window = `start_lt=${from}&end_lt=${to}`;
    const transfers = await askMessages(sandbox, `${window}&opcode=f8a7ea5`);
    expect(transfers.length).toBeGreaterThan(0);
    expect(transfers.every((one) => one.opcode === '0x0f8a7ea5')).toBe(true);
    expect(await askMessages(sandbox, `${window}&opcode=${0xd53276db | 0}`)).toEqual(
      await askMessages(sandbox, `${window}&opcode=0xd53276db`),
    );
  });
});
