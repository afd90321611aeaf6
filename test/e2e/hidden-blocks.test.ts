import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type RunEvent, run } from '../../src/export/run.ts';
import type { WalkMode } from '../../src/export/walk-context.ts';
import { withRows } from '../faults/lists.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { hurriedEffects } from '../rate-limit/clock.ts';
import { freshFolder } from '../scratch.ts';
import { contentOf, verify } from '../verify/support.ts';
import { query } from './export.ts';

const sandbox = await startTestSandbox({ blocks: 2000 });

interface Ref {
  readonly workchain: number;
  readonly shard: string;
  readonly seqno: number;
}

interface Block extends Ref {
  readonly tx_count: number;
  readonly prev_blocks: readonly Ref[];
}

const STATE = '/masterchainBlockShardState';

function blocksAt(target: string): readonly Block[] {
  const answer: { blocks: readonly Block[] } = JSON.parse(sandbox.ask(target).body.toString());
  return answer.blocks;
}

const isSame = (a: Ref, b: Ref): boolean => a.workchain === b.workchain && a.shard === b.shard && a.seqno === b.seqno;

/** Leaves blocks and their transactions out of all lists; changes the headers that are shown, and the blocks of states. */
function hide(
  isHidden: (block: Ref) => boolean,
  {
    shown = (block) => block,
    inState,
  }: { shown?: (block: Block) => Block; inState?: (block: Block) => readonly Block[] } = {},
): void {
  sandbox.changeAnswers(({ path }, answer) => {
    if (answer.status !== 200) return undefined;
    if (path === STATE) {
      const named = inState ?? ((block: Block) => (isHidden(block) ? [] : [shown(block)]));
      return withRows<Block>(answer, 'blocks', (rows) => rows.flatMap(named));
    }
    if (path === '/blocks') {
      return withRows<Block>(answer, 'blocks', (rows) => rows.filter((block) => !isHidden(block)).map(shown));
    }
    if (!path.startsWith('/transactions')) return undefined;
    return withRows<{ block_ref: Ref }>(answer, 'transactions', (rows) =>
      rows.filter((row) => !isHidden(row.block_ref)),
    );
  });
}

function tellTruth(): void {
  sandbox.answer = undefined;
}

async function runInto(warehouse: string, range: string, walk: WalkMode = 'auto') {
  const events: RunEvent[] = [];
  const report = await run({
    ...{ pipelines: ['transactions'], network: sandbox.url, range, warehouse, walk },
    ...{ effects: hurriedEffects(), waitMs: 2000, onEvent: (event: RunEvent) => events.push(event) },
  });
  return { report, problems: events.filter((event) => event.event === 'problem') };
}

/** Number of headers of each masterchain block. */
async function headersIn(warehouse: string): Promise<ReadonlyMap<string, string>> {
  const rows = await query(warehouse, 'SELECT mc_block_seqno, count(*) FROM blocks GROUP BY ALL');
  return new Map(rows.map(([seqno = '', count = '']) => [seqno, count]));
}

const truths = new Map<string, string>();
async function truthOf(range: string): Promise<string> {
  const path = truths.get(range) ?? join(freshFolder(), 'truth');
  if (!truths.has(range)) {
    await runInto(path, range);
    truths.set(range, path);
  }
  return path;
}

/** A branch that is merged in 1091, from the block after that of 1059 on. */
const BRANCH = 'E000000000000000';
const merged = blocksAt('/blocks?mc_seqno=1091&limit=100').find((block) => block.prev_blocks.length === 2) as Block;
const last = merged.prev_blocks.find(({ shard }) => shard === BRANCH) as Ref;
const before = blocksAt(`${STATE}?seqno=1069`).find(({ shard }) => shard === BRANCH) as Block;

const isInBranch = ({ workchain, shard, seqno }: Ref): boolean =>
  workchain === 0 && shard === BRANCH && seqno > before.seqno && seqno <= last.seqno;
const withoutMerge = (block: Block): Block =>
  isSame(block, merged) ? { ...block, prev_blocks: block.prev_blocks.filter(({ shard }) => shard !== BRANCH) } : block;

describe.each(['masterchain', 'window'] as const)('a source that hides shard blocks, walked by %s', (walk) => {
  test.each<readonly [string, string, () => void]>([
    ['a branch before its merge', '1070:1094', () => hide(isInBranch, { shown: withoutMerge })],
    [
      'a branch before its merge in lists alone',
      '1070:1094',
      () => hide(isInBranch, { shown: withoutMerge, inState: (block) => [withoutMerge(block)] }),
    ],
    [
      'one half of a split',
      '1012:1021',
      () => hide(({ workchain, shard }) => workchain === 0 && shard === '6000000000000000'),
    ],
    [
      'half of the basechain',
      '1000:1005',
      () => hide(({ workchain, shard }) => workchain === 0 && /^[89A-F].{15}$/.test(shard)),
    ],
  ])('%s: no block is proven without one of its headers', async (_, range, lie) => {
    const truth = await headersIn(await truthOf(range));
    const warehouse = join(freshFolder(), 'w');
    lie();
    const lied = await runInto(warehouse, range, walk);
    tellTruth();
    expect(lied.report.complete).toBe(false);
    expect(lied.problems.length).toBeGreaterThan(0);
    expect([...(await headersIn(warehouse))].filter(([seqno, count]) => truth.get(seqno) !== count)).toEqual([]);
    expect((await runInto(warehouse, range, walk)).report.complete).toBe(true);
    expect(await contentOf(warehouse)).toEqual(await contentOf(await truthOf(range)));
  });
});

describe('the newest block of a shard that a source hides, also from states', () => {
  /** A block of 1050 with transactions, and the one before it. */
  const hidden = blocksAt('/blocks?mc_seqno=1050&limit=100').find(
    ({ workchain, tx_count, prev_blocks: [prev, other], shard }) =>
      workchain === 0 && tx_count > 0 && other === undefined && prev?.shard === shard,
  ) as Block;
  const prev = blocksAt(
    `/blocks?workchain=0&shard=${hidden.shard}&seqno=${hidden.prev_blocks[0]?.seqno}&limit=1`,
  )[0] as Block;
  const hideNewest = () =>
    hide((block) => isSame(block, hidden), { inState: (block) => [isSame(block, hidden) ? prev : block] });
  /** A warehouse of which the source hid that block. */
  async function lied(range: string): Promise<string> {
    const warehouse = join(freshFolder(), 'w');
    hideNewest();
    expect((await runInto(warehouse, range)).report.complete).toBe(true);
    tellTruth();
    return warehouse;
  }
  let truth: unknown;
  beforeAll(async () => {
    truth = await contentOf(await truthOf('1040:1056'));
  });

  test.each(['1051:1056', '1040:1056'])('is read with its transactions when %s follows', async (range) => {
    const warehouse = await lied('1044:1050');
    if (range === '1051:1056') await runInto(warehouse, '1040:1043');
    const { report, problems } = await runInto(warehouse, range);
    expect(report.complete).toBe(true);
    expect(problems).toMatchObject([
      { from: 1050, to: 1050, code: 'read-again', message: expect.stringContaining('tonlake verify --repair') },
    ]);
    expect(await contentOf(warehouse)).toEqual(truth);
    expect((await verify(warehouse, { deep: true })).findings).toEqual([]);
  });

  test('leaves what follows open while the lists lack it', async () => {
    const warehouse = await lied('1044:1050');
    hide((block) => isSame(block, hidden), { inState: (block) => [block] });
    const { report, problems } = await runInto(warehouse, '1040:1056');
    tellTruth();
    expect(report.complete).toBe(false);
    expect(problems.map((problem) => 'code' in problem && problem.code)).toContain('other-headers');
    expect((await headersIn(warehouse)).has('1051')).toBe(false);
    expect((await runInto(warehouse, '1040:1056')).report.complete).toBe(true);
    expect(await contentOf(warehouse)).toEqual(truth);
  });

  test('is missed where the blocks after it are there', async () => {
    const warehouse = join(freshFolder(), 'w');
    await runInto(warehouse, '1051:1056');
    hideNewest();
    const { report, problems } = await runInto(warehouse, '1040:1056');
    tellTruth();
    expect(report.complete).toBe(false);
    expect(problems).toMatchObject([{ from: 1050, to: 1050 }]);
    expect((await headersIn(warehouse)).has('1050')).toBe(false);
    expect((await runInto(warehouse, '1040:1056')).report.complete).toBe(true);
    expect(await contentOf(warehouse)).toEqual(truth);
  });
});
