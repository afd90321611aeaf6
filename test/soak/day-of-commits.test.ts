import { statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { BackgroundMerge } from '../../src/warehouse/compaction/background-merge.ts';
import { planMerges } from '../../src/warehouse/compaction/plan-merges.ts';
import { openReader } from '../../src/warehouse/open-store.ts';
import { tables } from '../warehouse/compacting.ts';
import { commitItems, countItems, freshPath, listAll, openTestStore } from '../warehouse/warehouses.ts';

const COMMITS = Number(process.env['TONLAKE_SOAK_COMMITS'] ?? 8640);
/** Items of a commit. */
const SIZE = 4;

test('24 hours of commits every ten seconds leave at most 60 files of a table, and one day as compact leaves it', async () => {
  const path = freshPath('parquet');
  const clock = { ...realEffects, time: Date.parse('2026-05-01T00:00:00Z') };
  const effects = Object.assign(clock, { now: () => clock.time, monotonic: () => clock.time });
  const store = await openTestStore(path, { effects });
  let [merges, written] = [0, 0];
  const merging = new BackgroundMerge({
    ...{ tables, pipelines: [], effects },
    onEvent: ({ bytes }) => {
      merges++;
      written += bytes.after;
    },
  });
  const counts: number[] = [];
  const startedAt = performance.now();
  // The day is over after 8,640 commits; the last ones are of the next.
  for (let at = 0; at < COMMITS + 120; at++) {
    clock.time += 10_000;
    await commitItems(store, at * SIZE, at * SIZE + SIZE - 1, { perDay: COMMITS * SIZE });
    merging.committed(store);
    await merging.idle();
    if (at % 360 === 0)
      counts.push(store.ledger().reduce((sum, { tables: own }) => sum + (own['items']?.files.length ?? 0), 0));
  }
  const seconds = (performance.now() - startedAt) / 1000;
  console.log({ files: counts, merges, mergedMb: written / 1e6, seconds, rss: process.memoryUsage().rss / 1e6 });
  expect(Math.max(...counts)).toBeLessThanOrEqual(60);
  const closed = store
    .ledger()
    .filter(({ tables: own }) => own['items']?.files.every(({ path: file }) => file.includes('2026-05-01')));
  expect(planMerges(closed, { tables, pipelines: [], targetBytes: 128e6 })).toEqual([]);
  await merging.end();
  await store.close();
  const reader = await openReader(path, tables);
  const rows = (COMMITS + 120) * SIZE;
  expect(await countItems(reader)).toEqual({ rows, distinct: rows, parts: 2 * rows });
  await reader.close();
  console.log({ onDisk: (await listAll(path)).filter((name) => name.endsWith('.parquet')).length });
});

test('24 hours of commits every ten seconds make a DuckDB file of at most twice the size of one commit', async () => {
  const [path, once] = [freshPath('duckdb'), freshPath('duckdb')];
  const clock = { ...realEffects, time: Date.parse('2026-05-01T00:00:00Z') };
  const effects = Object.assign(clock, { now: () => clock.time, monotonic: () => clock.time });
  const perDay = COMMITS * SIZE;
  const store = await openTestStore(path, { effects });
  const times: number[] = [];
  for (let at = 0; at < COMMITS; at++) {
    clock.time += 10_000;
    const startedAt = performance.now();
    await commitItems(store, at * SIZE, at * SIZE + SIZE - 1, { perDay });
    times.push(performance.now() - startedAt);
  }
  await store.close();
  const whole = await openTestStore(once, { effects });
  await commitItems(whole, 0, perDay - 1, { perDay });
  await whole.close();
  const medianOf = (some: readonly number[]): number => [...some].sort((a, b) => a - b)[some.length >> 1] ?? 0;
  const tenth = Math.ceil(COMMITS / 10);
  const ms = { first: medianOf(times.slice(0, tenth)), last: medianOf(times.slice(-tenth)) };
  const mb = { often: statSync(path).size / 1e6, once: statSync(once).size / 1e6 };
  console.log({ ms, mb, rss: process.memoryUsage().rss / 1e6 });
  expect(mb.often).toBeLessThan(2 * mb.once + 1);
  const reader = await openReader(path, tables);
  expect(await countItems(reader)).toEqual({ rows: perDay, distinct: perDay, parts: 2 * perDay });
  await reader.close();
});
