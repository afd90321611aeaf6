import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { hashTables } from '../e2e/export.ts';
import { freshFolder } from '../scratch.ts';
import { followUntil, HEAD, reaches, startGrowing } from './support.ts';

/** A disk of its own. @returns its folder, and what removes it */
function mountDisk(megabytes: number): { readonly path: string; readonly unmount: () => void } {
  const path = join(freshFolder(), 'disk');
  mkdirSync(path);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path], { stdio: 'ignore' });
  return { path, unmount: () => void execFileSync('umount', ['-l', path]) };
}

/** True if this user may mount a disk. */
function canMount(): boolean {
  try {
    mountDisk(1).unmount();
    return true;
  } catch {
    return false;
  }
}

/** Fills a disk to the last byte. */
function fill(file: string): void {
  for (const bytes of [1_048_576, 4096, 1]) {
    try {
      for (;;) appendFileSync(file, Buffer.alloc(bytes));
    } catch {
      // It takes no more of that size.
    }
  }
}

/** The request before rows are written, and the one between the rows and their commit. */
const PAGE = /^\/transactions/;
const COMPARISON = /^\/blocks\?.*limit=1$/;

test.skipIf(!canMount()).each([
  ['w', PAGE],
  ['w', COMPARISON],
  ['w.duckdb', COMPARISON],
])('a disk that fills up while rows are committed to %s, after %s, is waited for', async (name, moment) => {
  const { path: disk, unmount } = mountDisk(100);
  onTestFinished(unmount);
  const { effects, sandbox } = await startGrowing(60);
  const warehouse = join(disk, name);
  const ballast = join(disk, 'ballast');
  let isFull = false;
  let waits = 0;
  const options = { pipelines: ['transactions'], network: sandbox.url, warehouse, effects };
  const { events, report } = await followUntil(
    (event) => {
      if (event.event === 'lag' && event.block > HEAD && !isFull) {
        // After the check for free space, before the rows are written.
        sandbox.answer = (passing) => {
          if (moment.test(`${passing.path}?${passing.query}`) && !isFull) {
            isFull = true;
            fill(ballast);
          }
          return passing.forward();
        };
      }
      if (event.event === 'waiting' && ++waits === 1) rmSync(ballast);
      return reaches(HEAD + 60)(event);
    },
    { ...options, lagMs: 10_000, from: '-2:' },
  );
  const told = events.filter(({ event }) => event === 'waiting' || event === 'resumed');
  expect(told).toMatchObject([
    { event: 'waiting', code: 'disk-full', message: expect.stringContaining('the disk is full') },
    { event: 'resumed', code: 'disk-full' },
  ]);
  expect(report.complete).toBe(true);
  const once = join(freshFolder(), 'once');
  await run({ ...options, network: sandbox.url, warehouse: once, range: `${HEAD - 1}:${HEAD + 60}` });
  expect(await hashTables(warehouse)).toEqual(await hashTables(once));
});
