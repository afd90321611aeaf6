import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunEvent, run } from '../../src/export/run.ts';
import type { WalkMode } from '../../src/export/walk-context.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts';
import { type Passed, proxy, withRows } from '../proxy.ts';
import { hurriedEffects } from '../rate-limit/clock.ts';
import { freshFolder } from '../scratch.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ blocks: 60_000, activity: 0.05 });
});
afterAll(() => sandbox.close());

interface Block {
  readonly workchain: number;
  readonly shard: string;
  readonly seqno: number;
  readonly prev_blocks: readonly { readonly shard: string; readonly seqno: number }[];
  readonly masterchain_block_ref: { readonly seqno: number };
}

async function blocksAt(path: string): Promise<readonly Block[]> {
  const answer: { blocks: readonly Block[] } = JSON.parse(await (await fetch(`${sandbox.url}${path}`)).text());
  return answer.blocks;
}

const STATE = '/masterchainBlockShardState';
const NOT_FOUND: Passed = { status: 404, body: '{"error":"blocks not found"}' };

async function headers(network: string, range: string, more: { walk?: WalkMode; rps?: number } = {}) {
  const events: RunEvent[] = [];
  const warehouse = join(freshFolder(), 'w');
  const report = await run({
    ...{ pipelines: ['blocks'], network, range, warehouse, effects: hurriedEffects(), waitMs: 2000 },
    ...{ onEvent: (event: RunEvent) => events.push(event), ...more },
  });
  return { report, problems: events.filter((event) => event.event === 'problem') };
}

describe('where the index begins', () => {
  /** A masterchain block with a block of every shard, and two of one: the state names the newer one, which links to the older one. */
  async function twoOfOneShard(): Promise<{ readonly first: number; readonly newer: Block; readonly older: Block }> {
    for (let first = 2; ; first++) {
      const blocks = await blocksAt(`/blocks?mc_seqno=${first}`);
      const state = await blocksAt(`${STATE}?seqno=${first}`);
      if (state.some((block) => block.masterchain_block_ref.seqno < first)) continue;
      for (const newer of blocks) {
        const older = blocks.find(
          (block) => block.shard === newer.shard && block.workchain === 0 && block.seqno === newer.seqno - 1,
        );
        if (newer.workchain === 0 && older !== undefined) return { first, newer, older };
      }
    }
  }

  /** An index that begins at a block, whose lists of that block lack a header. */
  const begunAt = (first: number, lost: Block | undefined) =>
    proxy(sandbox, (target, answer) => {
      if (target.pathname === '/masterchainInfo') {
        const info: Record<string, unknown> = JSON.parse(answer.body);
        return { ...answer, body: JSON.stringify({ ...info, first: { ...Object(info['first']), seqno: first } }) };
      }
      const isById = target.searchParams.has('shard');
      const isLost = (block: Block): boolean =>
        !isById && block.workchain === lost?.workchain && block.shard === lost.shard && block.seqno === lost.seqno;
      const isKept = (block: Block): boolean => block.masterchain_block_ref.seqno >= first;
      if (target.pathname === STATE) return withRows<Block>(answer, 'blocks', (rows) => rows.filter(isKept));
      if (target.pathname !== '/blocks') return undefined;
      return withRows<Block>(answer, 'blocks', (rows) => rows.filter((block) => isKept(block) && !isLost(block)));
    });

  test.each(['masterchain', 'window'] as const)(
    'no header is missing from its first block, walked by %s',
    async (walk) => {
      const { first, newer, older } = await twoOfOneShard();
      const range = `${first}:${first + 8}`;
      expect((await headers((await begunAt(first, undefined)).baseUrl, range, { walk })).report.complete).toBe(true);
      for (const lost of [newer, older]) {
        const { report, problems } = await headers((await begunAt(first, lost)).baseUrl, range, { walk });
        expect(report.complete).toBe(false);
        expect(problems).toMatchObject([
          {
            from: first,
            to: first,
            code: 'unbalanced',
            message: expect.stringMatching(/expected block 0:.* got none/),
          },
        ]);
      }
    },
  );
});

describe('the state of the shards before a span', () => {
  test('that is missing for a while is asked for once more, when the rest is in', async () => {
    let isOver = false;
    let asked = 0;
    const { baseUrl } = await proxy(sandbox, (target) => {
      if (target.pathname === '/blocks') isOver = true;
      if (target.pathname !== STATE || target.searchParams.get('seqno') !== '99') return undefined;
      asked++;
      return isOver ? undefined : NOT_FOUND;
    });
    const { report, problems } = await headers(baseUrl, '100:120');
    expect(problems).toEqual([]);
    expect(report.complete).toBe(true);
    expect(asked).toBeGreaterThan(1);
  });

  test('that stays missing leaves only the block after it open, and is not waited for twice', async () => {
    let afterwards = 0;
    let isOver = false;
    const { baseUrl } = await proxy(sandbox, (target) => {
      if (target.pathname === '/blocks') isOver = true;
      if (target.pathname !== STATE || target.searchParams.get('seqno') !== '99') return undefined;
      if (isOver) afterwards++;
      return NOT_FOUND;
    });
    const { report, problems } = await headers(baseUrl, '100:120');
    expect(report.complete).toBe(false);
    expect(problems).toMatchObject([{ from: 100, to: 100, code: 'not-indexed' }]);
    expect(afterwards).toBe(1);
  });

  test.each(['{"blocks":null}', '{"blocks":[]}'])('that comes as %s is asked for again', async (body) => {
    let left = 2;
    const { baseUrl } = await proxy(sandbox, (target, answer) =>
      target.pathname === STATE && target.searchParams.get('seqno') === '99' && left-- > 0
        ? { ...answer, body }
        : undefined,
    );
    expect((await headers(baseUrl, '100:120')).report).toMatchObject({ complete: true, retries: 2 });
  });

  test('that is null for good leaves one block open', async () => {
    const { baseUrl } = await proxy(sandbox, (target, answer) =>
      target.pathname === STATE && target.searchParams.get('seqno') === '99'
        ? { ...answer, body: '{"blocks":null}' }
        : undefined,
    );
    const { problems } = await headers(baseUrl, '100:120');
    expect(problems).toMatchObject([{ from: 100, to: 100, code: 'short-list' }]);
  });
});

test('a walk that cannot go on plans nothing more', async () => {
  let states = 0;
  const { baseUrl } = await proxy(sandbox, ({ pathname }) => {
    if (pathname === STATE) states++;
    return pathname === '/blocks' ? { status: 403, body: '{"error":"no"}' } : undefined;
  });
  // Spans of 60 blocks, each with a state at its end.
  await expect(headers(baseUrl, '2:50001', { walk: 'masterchain', rps: 1 })).rejects.toMatchObject({
    code: 'forbidden',
  });
  expect(states).toBeLessThan(8);
});
