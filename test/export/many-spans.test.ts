import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Span } from '../../src/core/span.ts';
import { run } from '../../src/export/run.ts';
import { tonlake } from '../cli.ts';
import { query } from '../e2e/export.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';

/** One or two blocks, then a hole of one: 30 spans over 74 blocks. */
const SPANS: readonly Span[] = Array.from({ length: 30 }, (_, at) => ({
  from: 1000 + Math.floor(at * 2.5),
  to: 1000 + Math.floor(at * 2.5) + (at % 2),
}));
const HULL: Span = { from: 1000, to: 1073 };
const RANGE = SPANS.map(({ from, to }) => `${from}:${to}`).join(',');
const KEYS = { blocks: 'root_hash', transactions: 'hash', messages: 'msg_hash' } as const;
const BLOCK = { blocks: 'mc_block_seqno', transactions: 'mc_block_seqno', messages: 'tx_mc_block_seqno' } as const;

const sandbox = await startTestSandbox();
afterAll(() => sandbox.close());

const isAsked = (block: string): string =>
  SPANS.map(({ from, to }) => `${block} BETWEEN ${from} AND ${to}`).join(' OR ');
const keysOf = (warehouse: string, table: keyof typeof KEYS, where = 'true') =>
  query(warehouse, `SELECT count(*), bit_xor(hash(${KEYS[table]})) FROM ${table} WHERE ${where}`);

async function bring(range: string, warehouse = join(freshFolder(), 'w'), pipelines = ['transactions']) {
  const problems: string[] = [];
  const report = await run({
    ...{ pipelines, range, network: sandbox.url, warehouse },
    onEvent: (event) => event.event === 'problem' && problems.push(event.message),
  });
  return { warehouse, report, problems };
}

/** The key of each list by logical time. */
const LISTS = {
  jetton_burns: 'tx_hash',
  jetton_transfers: 'tx_hash',
  nft_transfers: 'tx_hash',
  message_links: 'msg_hash',
};
const listKeys = (warehouse: string) =>
  Promise.all(
    Object.entries(LISTS).map(([table, key]) =>
      query(warehouse, `SELECT '${table}', count(*), count(DISTINCT ${key}), bit_xor(hash(${key})) FROM ${table}`),
    ),
  );

describe('a range of many spans', () => {
  test('costs about as many requests as all blocks from its first to its last, and stores only its own', async () => {
    const hull = await bring(`${HULL.from}:${HULL.to}`);
    const spans = await bring(RANGE);
    expect(spans.report).toMatchObject({ complete: true });
    expect(spans.report.requests).toBeLessThanOrEqual(hull.report.requests + 4);
    for (const table of ['blocks', 'transactions', 'messages'] as const) {
      const [own] = await keysOf(spans.warehouse, table);
      expect(Number(own?.[0])).toBeGreaterThan(0);
      expect([own]).toEqual(await keysOf(hull.warehouse, table, isAsked(BLOCK[table])));
    }
  });

  test('leaves out a block that its source has lost, and no other, and does not mind one between its spans', async () => {
    const [lost, between] = [1005, 1001];
    expect(SPANS).toContainEqual({ from: lost, to: lost });
    const lacking = new Set([lost, between]);
    sandbox.answer = async ({ path, forward }) => {
      const answer = await forward();
      if (!path.startsWith('/transactions')) return answer;
      const parsed = JSON.parse(answer.body) as {
        readonly transactions: readonly { readonly mc_block_seqno: number }[];
      };
      const transactions = parsed.transactions.filter(({ mc_block_seqno: seqno }) => !lacking.has(seqno));
      return { status: 200, body: JSON.stringify({ ...parsed, transactions }) };
    };
    const { report, problems, warehouse } = await bring(RANGE);
    expect(report.complete).toBe(false);
    expect(problems.map((problem) => /^\w+ transactions (\d+)/.exec(problem)?.[1])).toEqual([`${lost}`]);
    lacking.delete(lost);
    const mended = await bring(RANGE, warehouse);
    sandbox.answer = undefined;
    expect([mended.report.complete, mended.problems]).toEqual([true, []]);
  });

  test('costs few requests in lists, whose rows between its spans stay out', async () => {
    const lists = Object.keys(LISTS);
    const paths: string[] = [];
    sandbox.answer = ({ path, forward }) => {
      paths.push(path.replace(/\?.*/, ''));
      return forward();
    };
    const { warehouse, report } = await bring(RANGE, undefined, lists);
    sandbox.answer = undefined;
    expect(report).toMatchObject({ complete: true });
    for (const path of ['/jetton/burns', '/jetton/transfers', '/nft/transfers', '/messages']) {
      expect(paths.filter((each) => each === path).length, path).toBeLessThan(10);
    }
    const few = await listKeys(warehouse);
    // What lies between is read by another run: a row that had come with its neighbours would come twice, or be refused.
    await bring(`${HULL.from}:${HULL.to}`, warehouse, lists);
    const both = await listKeys(warehouse);
    const hull = await bring(`${HULL.from}:${HULL.to}`, undefined, lists);
    expect(both).toEqual(await listKeys(hull.warehouse));
    for (const [at, [row]] of few.entries()) expect(Number(row?.[1])).toBeLessThan(Number(both[at]?.[0]?.[1]));
  });

  test('leaves out the span of a list with a record that cannot be decoded, and no other', async () => {
    const whole = await bring(RANGE, undefined, ['message_links']);
    const rowsOf = (warehouse: string) =>
      query(warehouse, 'SELECT msg_hash FROM message_links ORDER BY created_lt, msg_hash');
    const stored = new Set((await rowsOf(whole.warehouse)).map(([hash]) => String(hash)));
    const breaking = async (isBroken: (hash: string) => boolean) => {
      sandbox.answer = async ({ path, forward }) => {
        const answer = await forward();
        if (!path.startsWith('/messages')) return answer;
        const { messages, ...rest } = JSON.parse(answer.body) as { messages: readonly { hash: string }[] };
        const broken = messages.map((each) => (isBroken(each.hash) ? { ...each, value: 'much' } : each));
        return { status: 200, body: JSON.stringify({ messages: broken, ...rest }) };
      };
      const found = await bring(RANGE, undefined, ['message_links']);
      sandbox.answer = undefined;
      return found;
    };
    const between = await breaking((hash) => !stored.has(hash));
    expect([between.report.complete, (await rowsOf(between.warehouse)).length]).toEqual([true, stored.size]);
    const [first] = stored;
    const within = await breaking((hash) => hash === first);
    const left = (await rowsOf(within.warehouse)).length;
    expect(within.report.complete).toBe(false);
    expect(left).toBeGreaterThan(stored.size * 0.8);
    expect(left).toBeLessThan(stored.size);
    await bring(RANGE, within.warehouse, ['message_links']);
    expect(await rowsOf(within.warehouse)).toEqual(await rowsOf(whole.warehouse));
  });

  test('is named by its spans when it is complete', async () => {
    const place = ['--network', sandbox.url, '--warehouse', join(freshFolder(), 'w')];
    const few = await tonlake(['run', 'transactions', '--range', '1000:1001,1003,1010:1012', ...place]);
    expect(few.stdout).toMatch(/^complete: transactions 1000:1001,1003,1010:1012 on /m);
    const many = await tonlake(['run', 'blocks', '--range', RANGE, ...place]);
    expect(many.stdout).toMatch(/^complete: blocks 1000,1002:1003,.* \.\.\. and 22 more spans, 33 blocks on /m);
  });
});
