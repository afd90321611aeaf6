import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import type { FollowEvent } from '../../src/follow/follow-event.ts';
import { hashTables } from '../e2e/export.ts';
import { freshFolder } from '../scratch.ts';
import { followUntil, HEAD, startGrowing } from './support.ts';

test('a backfill runs beside the head, and both have the rows of a run', async () => {
  const { effects, sandbox } = await startGrowing(30);
  const warehouse = join(freshFolder(), 'w');
  const options = { pipelines: ['transactions'], network: sandbox.url, warehouse, effects, lagMs: 10_000 };
  const seen = new Set<string>();
  const { events, report } = await followUntil(
    (event: FollowEvent) => {
      if (event.event === 'backfill') seen.add('backfill');
      if (event.event === 'lag' && event.block >= HEAD + 30) seen.add('head');
      return seen.size === 2;
    },
    { ...options, from: '-10:', backfill: `${HEAD - 40}:` },
  );
  // The range ends where following begins.
  expect(events.find(({ event }) => event === 'backfill')).toEqual({
    ...{ event: 'backfill', complete: true, missing: 0 },
    ...{ from: HEAD - 40, to: HEAD - 10 },
  });
  expect(report).toMatchObject({ from: HEAD - 9, to: HEAD + 30, complete: true });
  const once = join(freshFolder(), 'once');
  await run({ ...options, warehouse: once, range: `${HEAD - 40}:${HEAD + 30}` });
  expect(await hashTables(warehouse)).toEqual(await hashTables(once));
});

test('a backfill whose first block cannot be found for a while waits, and the head goes on', async () => {
  const { effects, sandbox } = await startGrowing(300);
  const down = { from: Number.POSITIVE_INFINITY, ms: 120_000 };
  sandbox.answer = ({ path, query, forward }) => {
    const isByTime = path === '/blocks' && query.has('start_utime');
    if (isByTime) down.from = Math.min(down.from, effects.elapsed());
    return isByTime && effects.elapsed() < down.from + down.ms ? { status: 502, body: '' } : forward();
  };
  const seen = new Set<string>();
  const options = { pipelines: ['blocks'], network: sandbox.url, effects, lagMs: 10_000, from: '-1:' };
  const { report, events } = await followUntil(
    (event) => {
      if (event.event === 'backfill') seen.add('backfill');
      if (event.event === 'lag' && event.block >= HEAD + 300) seen.add('head');
      return seen.size === 2;
    },
    { ...options, warehouse: join(freshFolder(), 'w'), backfill: '2026-05-01T23:33:' },
  );
  expect(events).toContainEqual(expect.objectContaining({ event: 'waiting', code: 'gateway-error' }));
  expect(events).toContainEqual(expect.objectContaining({ event: 'backfill', complete: true, missing: 0 }));
  expect(report.complete).toBe(true);
});

test('a backfill that fails ends the head, too', async () => {
  const { effects, sandbox } = await startGrowing(300);
  const options = { pipelines: ['blocks'], network: sandbox.url, effects, lagMs: 10_000, from: '-1:' };
  let reached = 0;
  const following = followUntil(
    (event) => {
      if (event.event === 'lag') reached = event.block;
      return reached >= HEAD + 300;
    },
    { ...options, warehouse: join(freshFolder(), 'w'), backfill: '2027-01-01' },
  );
  await expect(following).rejects.toThrow('2027-01-01');
  expect(reached).toBeLessThan(HEAD + 300);
});

test('a backfill that is stopped names the blocks that continue it', async () => {
  const { effects, sandbox } = await startGrowing(30);
  const options = { pipelines: ['blocks'], network: sandbox.url, effects, lagMs: 10_000, from: '-1:' };
  sandbox.answer = ({ path, query, forward }) => {
    const isOlder = path === '/masterchainBlockShardState' && Number(query.get('seqno')) < HEAD - 5;
    return isOlder ? { status: 502, body: '' } : forward();
  };
  const { events } = await followUntil(({ event }) => event === 'waiting', {
    ...options,
    warehouse: join(freshFolder(), 'w'),
    backfill: '-20:',
  });
  expect(events.filter(({ event }) => event === 'backfill')).toEqual([
    { event: 'backfill', complete: false, from: HEAD - 19, to: HEAD - 1, missing: 19 },
  ]);
});
