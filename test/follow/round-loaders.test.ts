import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test, vi } from 'vitest';
import { RoundLoaders } from '../../src/follow/round-loaders.ts';
import { freshFolder } from '../scratch.ts';
import { followUntil, HEAD, startGrowing } from './support.ts';

test('a thread decodes what is missing at first, and has ended when the head is followed', async () => {
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
    { ...options, lagMs: 10_000, from: '-600:' },
  );
  expect(report.complete).toBe(true);
  expect(seen.at(0)).toEqual([HEAD, 1, 1]);
  expect(seen.at(-1)).toEqual([expect.any(Number), 1, 0]);
});

/** Loaders without rows, and how often what they keep was given back. */
function countRenewals() {
  const stage = () => {
    throw new Error('expected no rows');
  };
  const renewals = { count: 0 };
  const closeIdle = async () => void renewals.count++;
  const loaders = new RoundLoaders({ stage, scratch: stage, closeIdle });
  const pools = new Set<unknown>();
  const rounds = async (count: number): Promise<number> => {
    for (let round = 0; round < count; round++) pools.add(await loaders.for(round % 40));
    expect(pools.size).toBe(renewals.count + 1);
    return renewals.count;
  };
  return rounds;
}

test('loaders, which keep the memory of a large round, are renewed every 16 rounds', async () => {
  const rounds = countRenewals();
  expect([await rounds(16), await rounds(1), await rounds(15), await rounds(1)]).toEqual([0, 1, 1, 2]);
});

test('loaders are renewed soon after a large round, but not after each of many', async () => {
  const rounds = countRenewals();
  const rss = vi.spyOn(process.memoryUsage, 'rss').mockReturnValue(150e6);
  onTestFinished(() => rss.mockRestore());
  await rounds(17 + 10);
  rss.mockReturnValue(180e6);
  expect(await rounds(1)).toBe(1);
  rss.mockReturnValue(190e6);
  expect(await rounds(1)).toBe(2);
  rss.mockReturnValue(230e6);
  expect([await rounds(3), await rounds(1), await rounds(1)]).toEqual([2, 3, 3]);
});
