import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { readBatches } from '../../src/export/read-batches.ts';
import { type RunEvent, run } from '../../src/export/run.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts';
import { hurriedEffects } from '../rate-limit/clock.ts';
import { freshFolder } from '../scratch.ts';

/** More blocks than come in the minute that a block is waited for. */
const COMING = 450;
const HEAD = 1000;
const BLOCK_MS = 400;
const WAIT_MS = 20_000;

let sandbox: Sandbox | undefined;

afterEach(() => sandbox?.close());

/** A network whose head grows while somebody sleeps, by `most` blocks in all. */
async function startGrowing(most = COMING) {
  const effects = hurriedEffects();
  const nowMs = (): number => Math.min(effects.monotonic(), most * BLOCK_MS);
  sandbox = await startSandbox({ blocks: HEAD, blockMs: BLOCK_MS, nowMs });
  return { effects, network: sandbox.url, range: `:+${COMING}` };
}

test('the next blocks are all brought in, and committed as they come', async () => {
  const options = await startGrowing();
  const events: RunEvent[] = [];
  const onEvent = (event: RunEvent) => events.push(event);
  const warehouse = join(freshFolder(), 'w');
  // On this clock, waiting for a commit would let the head grow.
  const pipelines = ['transactions', 'actions'];
  const report = await run({ commitEveryMs: 0, ...options, pipelines, warehouse, onEvent });
  expect(events.filter(({ event }) => event === 'problem')).toEqual([]);
  expect(report).toMatchObject({ complete: true, from: HEAD + 1, to: HEAD + COMING });
  const committed = events.flatMap((event) => (event.event === 'span' ? [event] : []));
  const lastHeaders = committed.findLastIndex(({ pipeline }) => pipeline === 'blocks');
  const before = committed.slice(0, lastHeaders).filter(({ pipeline }) => pipeline === 'transactions');
  expect(before.length).toBeGreaterThanOrEqual(3);
});

test('a head that stands still ends it: what came is kept, the rest is told', async () => {
  const options = await startGrowing(150);
  const problems: RunEvent[] = [];
  const onEvent = (event: RunEvent): void => {
    if (event.event === 'problem') problems.push(event);
  };
  const warehouse = join(freshFolder(), 'w');
  const report = await run({ ...options, pipelines: ['blocks'], warehouse, waitMs: WAIT_MS, onEvent });
  expect(report.complete).toBe(false);
  expect(problems).toMatchObject([{ code: 'above-head', from: HEAD + 151, to: HEAD + COMING }]);
  const again = await run({
    ...options,
    pipelines: ['blocks'],
    warehouse,
    range: `${HEAD + 1}:${HEAD + 150}`,
  });
  expect(again).toMatchObject({ complete: true, spans: 0 });
});

test('batches of blocks to come are handed out as they come', async () => {
  const options = await startGrowing();
  let headers = 0;
  for await (const { table, batch } of readBatches({ ...options, pipeline: 'blocks', waitMs: WAIT_MS })) {
    if (table === 'blocks') headers += batch.numRows;
  }
  expect(headers).toBeGreaterThanOrEqual(2 * COMING);
  // The last ones as soon as they are there, without waiting for others.
  expect(options.effects.monotonic()).toBeLessThan(COMING * BLOCK_MS + WAIT_MS / 2);
});
