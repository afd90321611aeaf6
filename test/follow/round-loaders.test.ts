import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { RoundLoaders } from '../../src/follow/round-loaders.ts';
import { freshFolder } from '../scratch.ts';
import { followUntil, HEAD, startGrowing } from './support.ts';

test('threads decode what is missing at first, and have ended when the head is followed', async () => {
  const { effects, sandbox } = await startGrowing(60, { activity: 0.1 });
  const threads = { started: 0, running: 0 };
  const count = (worker: Worker): void => {
    threads.started++;
    threads.running++;
    worker.once('exit', () => threads.running--);
  };
  process.on('worker', count);
  onTestFinished(() => void process.off('worker', count));
  const seen: [blocks: number, started: number, running: number][] = [];
  const options = { pipelines: ['blocks'], network: sandbox.url, warehouse: join(freshFolder(), 'w'), effects };
  const { report } = await followUntil(
    (event) => {
      if (event.event === 'lag') seen.push([event.block, threads.started, threads.running]);
      return event.event === 'lag' && event.block > HEAD;
    },
    { ...options, lagMs: 10_000, from: '-600:', workers: 1 },
  );
  expect(report.complete).toBe(true);
  // A thread that decodes, and one that writes files.
  expect(seen.at(0)).toEqual([HEAD, 2, 2]);
  expect(seen.at(-1)).toEqual([expect.any(Number), 2, 0]);
});

test('loaders, which keep the memory of a large round, are renewed every 32 rounds', async () => {
  const stage = () => {
    throw new Error('expected no rows');
  };
  const loaders = new RoundLoaders({ workers: 0, stages: { stage, scratch: stage } });
  const seen = [];
  for (let round = 0; round < 320; round++) seen.push(await loaders.for(round % 40));
  expect(new Set(seen).size).toBe(11);
  expect(new Set(seen.slice(0, 31)).size).toBe(1);
});
