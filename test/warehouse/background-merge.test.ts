import { truncate } from 'node:fs/promises';
import { describe, expect, test, vi } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { BackgroundMerge } from '../../src/warehouse/compaction/background-merge.ts';
import { spansOf } from '../../src/warehouse/ledger/done-spans.ts';
import type { Store } from '../../src/warehouse/store.ts';
import { tables } from './compacting.ts';
import {
  commitItems,
  countItems,
  draftOf,
  freshPath,
  listAll,
  openTestReader,
  openTestStore,
  stageItems,
} from './warehouses.ts';

/** Clocks that the test moves. */
function clocks() {
  const clock = { ...realEffects, time: Date.parse('2026-05-01T00:00:00Z') };
  return Object.assign(clock, { now: () => clock.time, monotonic: () => clock.time });
}

describe('merging beside commits', () => {
  test('keeps files few, and a reader sees every row once all the time', async () => {
    const path = freshPath('parquet');
    const effects = clocks();
    const store = await openTestStore(path, { effects });
    const merging = new BackgroundMerge({ tables, pipelines: [], effects });
    await commitItems(store, 0, 0);
    const reader = await openTestReader(path);
    let most = 0;
    for (let at = 1; at < 30; at++) {
      effects.time += 10_000;
      await commitItems(store, at, at);
      merging.committed(store);
      const { rows, distinct } = await countItems(reader);
      expect([rows, distinct]).toEqual([at + 1, at + 1]);
      await merging.idle();
      most = Math.max(most, (await reader.files('items')).length);
    }
    expect(most).toBeLessThanOrEqual(14);
    // Superseded files stay for an hour, and are removed without a second process.
    const countPinned = async () => (await listAll(path)).filter((name) => name.startsWith('pinned/')).length;
    await vi.waitUntil(async () => (await countPinned()) > 10, 60_000);
    const pinned = await countPinned();
    effects.time += 2 * 3_600_000;
    merging.committed(store);
    await merging.idle();
    expect(await countPinned()).toBeLessThan(pinned / 2);
    expect(await countItems(reader)).toEqual({ rows: 30, distinct: 30, parts: 60 });
  });

  test('takes no more than its share of the time', async () => {
    const effects = clocks();
    const store = await openTestStore(freshPath('parquet'), { effects });
    // A merge takes three seconds.
    const slow: Store = {
      ...store,
      commit: (...args) => {
        effects.time += 3000;
        return store.commit(...args);
      },
    };
    const merged: number[] = [];
    const merging = new BackgroundMerge({ tables, pipelines: [], effects, onEvent: () => merged.push(effects.time) });
    for (let at = 0; at < 100; at++) {
      effects.time += 1000;
      if (at % 4 === 0) for (let n = 0; n < 10; n++) await store.commit(...emptyItems(at * 10 + n));
      merging.committed(slow);
      await merging.idle();
    }
    expect(merged.length).toBeGreaterThan(2);
    for (const [at, time] of merged.entries())
      if (at > 0) expect(time - (merged[at - 1] ?? 0)).toBeGreaterThanOrEqual(30_000);
  });

  test('gives way to a commit that replaces an entry which is being merged', async () => {
    const store = await openTestStore(freshPath('parquet'));
    const failures: unknown[] = [];
    const merging = new BackgroundMerge({
      tables,
      pipelines: [],
      effects: realEffects,
      onFailure: (error) => failures.push(error),
    });
    const entries = [];
    for (let at = 0; at < 12; at++) entries.push(await commitItems(store, at, at));
    const staged = await stageItems(store, { from: 3, to: 3 });
    merging.committed(store);
    await store.commit(staged, draftOf({ from: 3, to: 3 }, { supersedes: [entries[3]?.id ?? ''] }));
    await merging.idle();
    expect(failures).toEqual([]);
    expect(await countItems(store)).toEqual({ rows: 12, distinct: 12, parts: 24 });
    await merging.end();
  });

  test('tells of a file that is damaged, and leaves its entries as they are', async () => {
    const path = freshPath('parquet');
    const effects = clocks();
    const store = await openTestStore(path, { effects });
    for (let at = 0; at < 12; at++) await commitItems(store, at, at);
    const [file = ''] = (await listAll(path)).filter((name) => name.startsWith('tables/items'));
    await truncate(`${path}/${file}`, 100);
    const failures: unknown[] = [];
    const merging = new BackgroundMerge({ tables, pipelines: [], effects, onFailure: (error) => failures.push(error) });
    merging.committed(store);
    await merging.idle();
    merging.committed(store);
    await merging.idle();
    expect(failures).toMatchObject([{ code: 'damaged' }]);
    expect(store.ledger().flatMap(spansOf)).toHaveLength(12);
    // The catalog cannot be written without the file.
    await store.close().catch(() => undefined);
  });

  test('has nothing to do in a DuckDB warehouse', async () => {
    const store = await openTestStore(freshPath('duckdb'));
    for (let at = 0; at < 12; at++) await commitItems(store, at, at);
    const merging = new BackgroundMerge({ tables, pipelines: [], effects: realEffects });
    merging.committed(store);
    await merging.idle();
    expect(store.ledger()).toHaveLength(12);
  });
});

function emptyItems(at: number): Parameters<Store['commit']> {
  return [{ id: realEffects.freshId(), tables: {} }, draftOf({ from: at, to: at })];
}
