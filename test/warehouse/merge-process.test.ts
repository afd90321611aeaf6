import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cp, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { BackgroundMerge } from '../../src/warehouse/compaction/background-merge.ts';
import { tables } from './compacting.ts';
import { watchInstances } from './duckdb-instances.ts';
import { countItems, freshPath, listAll, listFiles, makeItems, openTestStore } from './warehouses.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

/** A warehouse of twelve commits of an item each. */
const makeWarehouse = () => makeItems('parquet', ...Array.from({ length: 12 }, (_, at) => [at, at] as const));

/** Merges what there is to merge. @returns what was committed and told, and how many DuckDB instances this process opened for it */
async function merge(path: string, isApart: boolean, stop?: AbortSignal) {
  const store = await openTestStore(path);
  const { opened, stop: unwatch } = watchInstances();
  const failures: unknown[] = [];
  const onFailure = (error: unknown): void => void failures.push(error);
  const merging = new BackgroundMerge({ tables, pipelines: [], effects: realEffects, isApart, stop, onFailure });
  merging.committed(store);
  await merging.end();
  unwatch();
  const databases = opened.filter((settings) => /[/\\]spill$/.test(settings['temp_directory'] ?? ''));
  const inStage = await listFiles(join(path, '_stage'));
  const entries = store.ledger();
  // Neither works with a file that is damaged.
  const count = await countItems(store).catch(() => undefined);
  await store.close().catch(() => undefined);
  const merged = entries.map(({ span, tables: own }) => ({
    span,
    tables: Object.entries(own).map(([name, { files, ...evidence }]) => {
      return { name, ...evidence, files: files.map(({ path: _path, ...file }) => file) };
    }),
  }));
  return { merged, count, failures, databases: databases.length, inStage };
}

describe('a merge in a process of its own', () => {
  test('commits the bytes that a merge in this process does, and this process opens no database for it', async () => {
    const path = await makeWarehouse();
    const copy = freshPath('parquet');
    await cp(path, copy, { recursive: true });
    const [apart, here] = [await merge(path, true), await merge(copy, false)];
    expect(apart).toEqual({ ...here, databases: 0 });
    expect(apart).toMatchObject({ failures: [], inStage: [], count: { rows: 12, distinct: 12, parts: 24 } });
    expect(apart.merged.length).toBeLessThan(12);
    expect(here.databases).toBe(1);
  });

  test('tells of a damaged file as a merge in this process does', async () => {
    const path = await makeWarehouse();
    const [file = ''] = (await listAll(path)).filter((name) => name.startsWith('tables/items'));
    await truncate(join(path, file), 100);
    const { failures, inStage } = await merge(path, true);
    expect({ failures, inStage }).toMatchObject({
      failures: [{ name: 'StoreError', code: 'damaged', hint: expect.stringContaining('--repair') }],
      inStage: [],
    });
  });

  test('that is killed commits nothing, and is repeated', async () => {
    const path = await makeWarehouse();
    vi.stubEnv('NODE_OPTIONS', `--import=data:text/javascript,process.kill(process.pid,'SIGKILL')`);
    const { failures, merged, inStage } = await merge(path, true);
    expect({ failures, inStage }).toMatchObject({ failures: [{ code: 'merge-ended', retryable: true }], inStage: [] });
    expect(String(failures[0])).toContain('store: merge 0:11: its process ended with SIGKILL');
    expect(merged).toHaveLength(12);
    expect(await merge(path, true, AbortSignal.abort())).toMatchObject({ failures: [], count: { rows: 12 } });
    vi.unstubAllEnvs();
    const again = await merge(path, true);
    expect(again).toMatchObject({ failures: [], count: { rows: 12, distinct: 12, parts: 24 } });
    expect(again.merged.length).toBeLessThan(12);
  });

  test('ends with the process that started it, and not with a signal to the whole group', async () => {
    const file = fileURLToPath(new URL('../../dist/src/warehouse/compaction/merge-worker.js', import.meta.url));
    // Handlers of signals are there before it takes orders.
    const tellReady = 'process.on("newListener", (name) => name === "message" && process.send("ready"))';
    const child = fork(file, [], { execArgv: [`--import=data:text/javascript,${encodeURIComponent(tellReady)}`] });
    const ended = once(child, 'exit');
    await once(child, 'message');
    child.kill('SIGINT');
    child.kill('SIGTERM');
    child.disconnect();
    expect(await ended).toEqual([1, null]);
  });
});
