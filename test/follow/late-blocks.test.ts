import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import type { FollowEvent } from '../../src/follow/follow-event.ts';
import { hashTables, query } from '../e2e/export.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';
import { followUntil, HEAD, reaches, startGrowing } from './support.ts';

const ON_TIME = { lateBlocks: 0, lateRows: 0, lateShards: 0 };

const problemsOf = (events: readonly FollowEvent[]) =>
  events.flatMap((event) => (event.event === 'problem' ? [`${event.pipeline} ${event.from} ${event.code}`] : []));

test('what comes late leaves holes, which are told once and proven later, while the head goes on', async () => {
  const late = { lateBlocks: 0.07, lateRows: 0.07, lateShards: 0.1, lateMs: 9_000 };
  const { effects, sandbox } = await startGrowing(1_000, { activity: 0.15, faults: late });
  const options = { network: sandbox.url, effects, pipelines: ['transactions', 'traces'] };
  const warehouse = join(freshFolder(), 'w');
  const { events, lags, report } = await followUntil(
    (event) => {
      if (event.event !== 'lag' || event.block < HEAD + 40) return false;
      sandbox.setFaults(ON_TIME);
      return event.holes === 0;
    },
    { ...options, warehouse, lagMs: 10_000, from: '-4:' },
  );
  expect(lags.filter(({ holes, blocks }) => holes > 0 && blocks === 0).length).toBeGreaterThan(2);
  const problems = problemsOf(events);
  expect(problems).toContainEqual(expect.stringMatching(/^blocks \d+ not-indexed$/));
  expect(problems).toContainEqual(expect.stringMatching(/^transactions \d+ not-indexed$/));
  expect(problems).toContainEqual(expect.stringMatching(/^transactions \d+ unbalanced$/));
  // Lists wait for the transactions that prove them, and no list tells the same hole again.
  expect(problems.filter((each) => !/^(blocks|transactions) /.test(each))).toEqual([]);
  expect(new Set(problems).size).toBe(problems.length);
  expect(report).toMatchObject({ complete: true, unproven: {} });
  const once = join(freshFolder(), 'once');
  await run({ ...options, warehouse: once, range: `${report.from}:${report.to}` });
  expect(await hashTables(warehouse)).toEqual(await hashTables(once));
});

test('lists are followed with the headers of their blocks, which tell their age, and that the chain is another one', async () => {
  const { effects, sandbox } = await startGrowing(1_000, { activity: 0.1 });
  const other = await startTestSandbox({ seed: 2, blocks: HEAD + 500 });
  const warehouse = join(freshFolder(), 'w');
  const lags: FollowEvent[] = [];
  const following = followUntil(
    (event) => {
      if (event.event === 'lag') lags.push(event);
      if (reaches(HEAD + 1)(event)) {
        sandbox.answer = async ({ path, query: asked }) => {
          const answer = await fetch(`${other.url}${path}?${asked}`);
          return { status: answer.status, body: await answer.text() };
        };
      }
      return event.event === 'waiting';
    },
    { pipelines: ['jetton_transfers'], network: sandbox.url, warehouse, effects, lagMs: 10_000, from: '-4:' },
  );
  await expect(following).rejects.toMatchObject({ code: 'other-chain' });
  await other.close();
  expect(lags.at(-1)).toMatchObject({ blocks: 0, seconds: expect.closeTo(2, -1) });
  const [[last, blocks] = []] = await query(
    warehouse,
    'select max(mc_block_seqno), count(distinct mc_block_seqno) from blocks',
  );
  expect(Number(last) - (HEAD - 3) + 1).toBe(Number(blocks));
});

test('an index that was restored is waited for, without an error and without a row twice', async () => {
  const back = { ms: 0 };
  const { effects, sandbox } = await startGrowing(1_000, { activity: 0.1 }, back);
  const options = { network: sandbox.url, effects, pipelines: ['transactions'] };
  const warehouse = join(freshFolder(), 'w');
  const { events, report } = await followUntil(
    (event) => {
      // From now on it is as it was 60 blocks before, and grows from there.
      if (reaches(HEAD + 1)(event)) back.ms = 24_000;
      return reaches(HEAD + 40)(event);
    },
    { ...options, warehouse, lagMs: 10_000, from: '-60:' },
  );
  const told = events.filter(({ event }) => ['problem', 'waiting', 'resumed'].includes(event));
  expect(told).toMatchObject([
    { event: 'waiting', code: 'head-back' },
    { event: 'resumed', code: 'head-back' },
  ]);
  expect(report).toMatchObject({ complete: true });
  const once = join(freshFolder(), 'once');
  await run({ ...options, warehouse: once, range: `${report.from}:${report.to}` });
  expect(await hashTables(warehouse)).toEqual(await hashTables(once));
});
