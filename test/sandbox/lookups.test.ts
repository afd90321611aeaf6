import { afterAll, describe, expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/index.ts';
import { type Answer, ask, askJson, readRange } from './support.ts';

const sandbox = await startSandbox({ blocks: 320 });
const { transactions } = await readRange(sandbox, 290, 310);
afterAll(() => sandbox.close());

const encoded = (hash: string): string => encodeURIComponent(hash);

describe('transactions by message', () => {
  it('are both sides of a message, or one of them', async () => {
    const known = new Map(transactions.map((row) => [row.in_msg?.hash, row]));
    const sender = transactions.find((row) => row.out_msgs.some((message) => known.has(message.hash)));
    const message = sender?.out_msgs.find((one) => known.has(one.hash));
    const receiver = known.get(message?.hash);
    const find = async (query: string): Promise<Answer[]> =>
      (await askJson(sandbox, `/transactionsByMessage?msg_hash=${encoded(message?.hash ?? '')}${query}`)).transactions;
    expect(await find('')).toEqual([receiver, sender]);
    expect(await find('&sort=asc')).toEqual([sender, receiver]);
    expect(await find('&direction=in')).toEqual([receiver]);
    expect(await find('&direction=out')).toEqual([sender]);
    expect((await ask(sandbox, '/transactionsByMessage?opcode=1&direction=both')).status).toBe(422);
  });

  it('by opcode are those that consumed it; a transaction repeats without its messages', async () => {
    const { transactions: rows } = await askJson(sandbox, '/transactionsByMessage?opcode=0xf8a7ea5&limit=30');
    expect(rows).toHaveLength(30);
    expect(rows.every((row: Answer) => row.in_msg.opcode === '0x0f8a7ea5')).toBe(true);
    const busy = transactions.find((row) => row.out_msgs.length > 1);
    const hashes = busy?.out_msgs.map((message) => encoded(message.hash)).join(',');
    const { transactions: copies } = await askJson(sandbox, `/transactionsByMessage?msg_hash=${hashes}&direction=out`);
    expect(copies.map((row: Answer) => row.hash)).toEqual(busy?.out_msgs.map(() => busy.hash));
    expect(copies.at(-1)).toEqual(busy);
    expect(copies.slice(0, -1).every((row: Answer) => row.in_msg === null && row.out_msgs.length === 0)).toBe(true);
  });
});

describe('adjacent transactions', () => {
  it('are the parent and the children by lt', async () => {
    const known = new Map(transactions.map((row) => [row.in_msg?.hash, row]));
    const row = transactions.find(
      (one) => one.out_msgs.length > 1 && one.out_msgs.every((message) => known.has(message.hash)),
    );
    const children = row?.out_msgs
      .map((message) => known.get(message.hash))
      .sort((a, b) => Number(a?.lt) - Number(b?.lt));
    const find = async (query: string): Promise<Answer[]> =>
      (await askJson(sandbox, `/adjacentTransactions?hash=${encoded(row?.hash ?? '')}${query}`)).transactions;
    expect(await find('&direction=out')).toEqual(children);
    const child = children?.[0];
    const { transactions: parents } = await askJson(
      sandbox,
      `/adjacentTransactions?hash=${encoded(child?.hash ?? '')}&direction=in`,
    );
    expect(parents).toEqual([row]);
    expect((await ask(sandbox, '/adjacentTransactions')).status).toBe(404);
  });
});

describe('transactions by opcode', () => {
  it('are those that received it, also of messages that were sent before the first block', async () => {
    const page = 'sort=asc&limit=1000';
    const { transactions: all } = await askJson(sandbox, `/transactions?${page}&end_lt=66000060000000`);
    const received = all.filter((row: Answer) => row.in_msg?.opcode === '0x7362d09c').map((row: Answer) => row.hash);
    const { transactions: rows } = await askJson(sandbox, `/transactionsByMessage?opcode=0x7362d09c&${page}`);
    expect(received.length).toBeGreaterThan(3);
    expect(rows.map((row: Answer) => row.hash).slice(0, received.length)).toEqual(received);
  });
});
