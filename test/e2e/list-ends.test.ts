import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { withRows } from '../faults/lists.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { hurriedEffects } from '../rate-limit/clock.ts';
import { freshFolder } from '../scratch.ts';
import { verify } from '../verify/support.ts';
import { query } from './export.ts';

const sandbox = await startTestSandbox({ blocks: 2000 });
const LISTS = ['jetton_transfers', 'message_links'];
const STATE = '/masterchainBlockShardState';

interface Block {
  readonly workchain: number;
  readonly shard: string;
  readonly seqno: number;
  readonly end_lt: string;
  readonly prev_blocks: readonly { readonly shard: string; readonly seqno: number }[];
}

async function runInto(warehouse: string, range: string, pipelines: readonly string[]): Promise<boolean> {
  const report = await run({ pipelines, network: sandbox.url, range, warehouse, effects: hurriedEffects() });
  return report.complete;
}

async function rowsIn(warehouse: string): Promise<unknown> {
  const rows = LISTS.map((name) => `SELECT '${name}', count(*), sum(hash(t)::HUGEINT) FROM ${name} t`);
  return query(warehouse, `${rows.join(' UNION ALL ')} ORDER BY ALL`);
}

/** Changes the shard blocks of the state at a masterchain block. */
function lieAt(seqno: number, change: (block: Block) => Block): void {
  sandbox.changeAnswers(({ path, query }, answer) => {
    if (path !== STATE || query.get('seqno') !== String(seqno) || answer.status !== 200) return undefined;
    return withRows<Block>(answer, 'blocks', (rows) =>
      rows.map((block) => (block.workchain === 0 ? change(block) : block)),
    );
  });
}

const shifted =
  (by: number) =>
  (block: Block): Block => ({ ...block, end_lt: String(BigInt(block.end_lt) + BigInt(by)) });

function older(block: Block): Block {
  const [prev] = block.prev_blocks;
  if (prev === undefined || prev.shard !== block.shard) return block;
  const target = `/blocks?workchain=0&shard=${prev.shard}&seqno=${prev.seqno}&limit=1`;
  const { blocks }: { blocks: readonly Block[] } = JSON.parse(sandbox.ask(target).body.toString());
  return blocks[0] ?? block;
}

/** An index that begins at a block. */
function beginAt(seqno: number): void {
  const [first] = JSON.parse(sandbox.ask(`/blocks?workchain=-1&seqno=${seqno}&limit=1`).body.toString()).blocks;
  sandbox.changeAnswers(({ path }, answer) =>
    path === '/masterchainInfo'
      ? { ...answer, body: JSON.stringify({ ...JSON.parse(answer.body), first }) }
      : undefined,
  );
}

describe.each([['transactions'], ['blocks']])('lists whose blocks have committed %s', (headers) => {
  let truth: unknown;
  beforeAll(async () => {
    const warehouse = join(freshFolder(), 'truth');
    expect(await runInto(warehouse, '1030:1064', [headers, ...LISTS])).toBe(true);
    truth = await rowsIn(warehouse);
  });

  test.each<readonly [string, number, (block: Block) => Block]>([
    ['an earlier end', 1050, shifted(-6_000_000)],
    ['a later end', 1050, shifted(6_000_000)],
    ['older shard blocks', 1050, (block) => older(older(block))],
  ])('lose and double no row where one run is told %s of a state, and the next the true one', async (_, seqno, lie) => {
    const warehouse = join(freshFolder(), 'w');
    await runInto(warehouse, '1030:1064', [headers]);
    lieAt(seqno, lie);
    expect(await runInto(warehouse, '1030:1050', LISTS)).toBe(true);
    sandbox.answer = undefined;
    expect(await runInto(warehouse, '1051:1064', LISTS)).toBe(true);
    expect(await rowsIn(warehouse)).toEqual(truth);
  });

  test.each([1051, 1061])('lose no row where the index is said to begin at %i', async (first) => {
    const warehouse = join(freshFolder(), 'w');
    expect(await runInto(warehouse, `1030:${first - 1}`, [headers, ...LISTS])).toBe(true);
    beginAt(first);
    expect(await runInto(warehouse, `${first}:1064`, [headers, ...LISTS])).toBe(true);
    sandbox.answer = undefined;
    expect(await rowsIn(warehouse)).toEqual(truth);
  });
});

test('lists have all rows of their blocks where the state before the first ones ends later', async () => {
  const warehouse = join(freshFolder(), 'w');
  await runInto(warehouse, '1030:1064', ['transactions']);
  lieAt(1029, shifted(6_000_000));
  expect(await runInto(warehouse, '1030:1064', LISTS)).toBe(true);
  sandbox.answer = undefined;
  expect((await verify(warehouse)).findings).toEqual([]);
});

test('committed headers save the requests for states', async () => {
  const warehouse = join(freshFolder(), 'w');
  await runInto(warehouse, '1030:1064', ['blocks']);
  sandbox.requests.reset();
  await runInto(warehouse, '1040:1064', LISTS);
  expect(sandbox.requests.targets.filter((target) => target.startsWith(STATE))).toEqual([]);
});
