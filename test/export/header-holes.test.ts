import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type RunEvent, run } from '../../src/export/run.ts';
import type { WalkMode } from '../../src/export/walk-context.ts';
import { withRows } from '../faults/lists.ts';
import { type Replied, startTestSandbox } from '../faults/test-sandbox.ts';
import { hurriedEffects } from '../rate-limit/clock.ts';
import { freshFolder } from '../scratch.ts';

const sandbox = await startTestSandbox({ blocks: 60_000, activity: 0.05 });
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
const NOT_FOUND: Replied = { status: 404, body: '{"error":"blocks not found"}' };

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
    sandbox.changeAnswers((target, answer) => {
      if (target.path === '/masterchainInfo') {
        const info: Record<string, unknown> = JSON.parse(answer.body);
        return { ...answer, body: JSON.stringify({ ...info, first: { ...Object(info['first']), seqno: first } }) };
      }
      const isById = target.query.has('shard');
      const isLost = (block: Block): boolean =>
        !isById && block.workchain === lost?.workchain && block.shard === lost.shard && block.seqno === lost.seqno;
      const isKept = (block: Block): boolean => block.masterchain_block_ref.seqno >= first;
      if (target.path === STATE) return withRows<Block>(answer, 'blocks', (rows) => rows.filter(isKept));
      if (target.path !== '/blocks') return undefined;
      return withRows<Block>(answer, 'blocks', (rows) => rows.filter((block) => isKept(block) && !isLost(block)));
    });

  test.each(['masterchain', 'window'] as const)(
    'no header is missing from its first block, walked by %s',
    async (walk) => {
      const { first, newer, older } = await twoOfOneShard();
      const range = `${first}:${first + 8}`;
      begunAt(first, undefined);
      expect((await headers(sandbox.url, range, { walk })).report.complete).toBe(true);
      for (const lost of [newer, older]) {
        begunAt(first, lost);
        const { report, problems } = await headers(sandbox.url, range, { walk });
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

describe('after the first block of an index', () => {
  /** A masterchain block with a shard that has no block of its own there, but one in the next. */
  function lateShard(): { readonly first: number; readonly late: Block } {
    for (let first = 2; ; first++) {
      const state = blocksOf(`${STATE}?seqno=${first}`);
      for (const { shard, masterchain_block_ref: ref } of state) {
        const late = blocksOf(`/blocks?mc_seqno=${first + 1}&limit=100`).find(
          (block) => block.shard === shard && block.prev_blocks.length === 1 && block.prev_blocks[0]?.shard === shard,
        );
        if (ref.seqno < first && late !== undefined) return { first, late };
      }
    }
  }
  const blocksOf = (path: string): readonly Block[] =>
    (JSON.parse(sandbox.ask(path).body.toString()) as { readonly blocks: readonly Block[] }).blocks;

  test.each(['masterchain', 'window'] as const)(
    'a shard may begin in the next, unless the source has the block before, walked by %s',
    async (walk) => {
      const { first, late } = lateShard();
      const isBefore = (block: Block): boolean => block.masterchain_block_ref.seqno < first;
      const begin = (isKnownById: boolean) =>
        sandbox.changeAnswers((target, answer) => {
          if (target.path === '/masterchainInfo') {
            const info: Record<string, unknown> = JSON.parse(answer.body);
            return { ...answer, body: JSON.stringify({ ...info, first: { ...Object(info['first']), seqno: first } }) };
          }
          if (target.path !== STATE && target.path !== '/blocks') return undefined;
          const isById = isKnownById && target.query.has('shard') && target.query.has('seqno');
          return withRows<Block>(answer, 'blocks', (rows) =>
            rows
              .filter((block) => isById || !isBefore(block))
              .map((block) =>
                isById ? { ...block, masterchain_block_ref: { ...block.masterchain_block_ref, seqno: first } } : block,
              ),
          );
        });
      begin(false);
      expect((await headers(sandbox.url, `${first}:${first + 8}`, { walk })).problems).toEqual([]);
      begin(true);
      const { report, problems } = await headers(sandbox.url, `${first}:${first + 8}`, { walk });
      expect(report.complete).toBe(false);
      const message = expect.stringContaining(`:${late.prev_blocks[0]?.seqno} that others refer to`);
      expect(problems).toContainEqual(expect.objectContaining({ message }));
    },
  );

  test('a state without a shard is asked for again later, and proves nothing', async () => {
    const answers: string[] = [];
    sandbox.changeAnswers((target, answer) => {
      if (target.path !== STATE) return undefined;
      answers.push(target.query.get('seqno') ?? '');
      return withRows<Block>(answer, 'blocks', (rows) =>
        rows.filter(({ shard }) => !/^[89A-F].{15}$/.test(shard) || rows[0]?.shard === shard),
      );
    });
    const { report, problems } = await headers(sandbox.url, '400:402');
    expect(report.complete).toBe(false);
    expect(problems[0]).toMatchObject({ code: 'short-list', message: expect.stringContaining('every shard') });
    expect(answers.filter((seqno) => seqno === '399').length).toBeGreaterThan(1);
  });
});

describe('the state of the shards before a span', () => {
  test('that is missing for a while is asked for once more, when the rest is in', async () => {
    let isOver = false;
    let asked = 0;
    sandbox.changeAnswers((target) => {
      if (target.path === '/blocks') isOver = true;
      if (target.path !== STATE || target.query.get('seqno') !== '99') return undefined;
      asked++;
      return isOver ? undefined : NOT_FOUND;
    });
    const { report, problems } = await headers(sandbox.url, '100:120');
    expect(problems).toEqual([]);
    expect(report.complete).toBe(true);
    expect(asked).toBeGreaterThan(1);
  });

  test('that stays missing leaves only the block after it open, and is not waited for twice', async () => {
    let afterwards = 0;
    let isOver = false;
    sandbox.changeAnswers((target) => {
      if (target.path === '/blocks') isOver = true;
      if (target.path !== STATE || target.query.get('seqno') !== '99') return undefined;
      if (isOver) afterwards++;
      return NOT_FOUND;
    });
    const { report, problems } = await headers(sandbox.url, '100:120');
    expect(report.complete).toBe(false);
    expect(problems).toMatchObject([{ from: 100, to: 100, code: 'not-indexed' }]);
    expect(afterwards).toBe(1);
  });

  test.each(['{"blocks":null}', '{"blocks":[]}'])('that comes as %s is asked for again', async (body) => {
    let left = 2;
    sandbox.changeAnswers((target, answer) =>
      target.path === STATE && target.query.get('seqno') === '99' && left-- > 0 ? { ...answer, body } : undefined,
    );
    expect((await headers(sandbox.url, '100:120')).report).toMatchObject({ complete: true, retries: 2 });
  });

  test('that is null for good leaves one block open', async () => {
    sandbox.changeAnswers((target, answer) =>
      target.path === STATE && target.query.get('seqno') === '99' ? { ...answer, body: '{"blocks":null}' } : undefined,
    );
    const { problems } = await headers(sandbox.url, '100:120');
    expect(problems).toMatchObject([{ from: 100, to: 100, code: 'short-list' }]);
  });
});

test('a failure that ends the run is told, though the proof of what came before would fail in another way', async () => {
  let windows = 0;
  const states: string[] = [];
  sandbox.changeAnswers(({ path, query }) => {
    if (path === '/blocks' && query.has('start_lt') && ++windows > 2) return { status: 403, body: '{"error":"no"}' };
    const seqno = query.get('seqno') ?? '';
    if (path !== STATE || ['99', '2099'].includes(seqno)) return undefined;
    states.push(seqno);
    return { status: 500, body: '{"error":"no state"}' };
  });
  await expect(headers(sandbox.url, '100:2099')).rejects.toMatchObject({ code: 'forbidden' });
  expect(states).toEqual([]);
});

test('a walk that cannot go on plans nothing more', async () => {
  let states = 0;
  sandbox.changeAnswers(({ path }) => {
    if (path === STATE) states++;
    return path === '/blocks' ? { status: 403, body: '{"error":"no"}' } : undefined;
  });
  // Spans of 60 blocks, each with a state at its end.
  await expect(headers(sandbox.url, '2:50001', { walk: 'masterchain', rps: 1 })).rejects.toMatchObject({
    code: 'forbidden',
  });
  expect(states).toBeLessThan(8);
});
