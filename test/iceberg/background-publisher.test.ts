import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BackgroundPublisher } from '../../src/iceberg/background-publisher.ts';
import { startSandbox } from '../../src/sandbox/index.ts';
import { tonlake } from '../cli.ts';
import { exportRange } from '../e2e/export.ts';
import { afterFile, freshFolder } from '../scratch.ts';
import { items, parts } from '../warehouse/tables.ts';
import { clockAt, commitItems, freshPath, openTestStore } from '../warehouse/warehouses.ts';
import { readSnapshot, tagsOf } from './published.ts';

async function finish(along: BackgroundPublisher) {
  await along.end();
  return along.last;
}

describe('tables that are published along with commits', () => {
  test('follow them at most once a minute, and to the last one at the end', async () => {
    const warehouse = freshPath('parquet');
    const clock = { ...clockAt(Date.now()), monotonicMs: 0, monotonic: () => clock.monotonicMs };
    const along = await BackgroundPublisher.open({ warehouse, tables: [items, parts], effects: clock });
    expect(await finish(along)).toMatchObject({ error: { code: 'no-warehouse' } });
    const store = await openTestStore(warehouse);
    expect(await finish(along)).toBeUndefined();
    const shown: number[] = [];
    for (let at = 0; at < 4; at++) {
      await commitItems(store, 10 * at, 10 * at + 9);
      clock.monotonicMs += 31_000;
      along.committed();
      if (at === 1) shown.push((await waitFor(warehouse, 'entry-2')).rows);
    }
    await store.close();
    expect(shown).toEqual([20]);
    expect(await finish(along)).toMatchObject({ report: { entry: 4, skipped: [] } });
    expect(await tagsOf(warehouse, 'items')).toEqual(['entry-2', 'entry-4']);
    expect((await readSnapshot(warehouse, 'items')).rows).toBe(40);
  });

  test('tell a failure once, and are published when it is over', async () => {
    const warehouse = freshPath('parquet');
    const clock = { ...clockAt(Date.now()), monotonicMs: 0, monotonic: () => clock.monotonicMs };
    const store = await openTestStore(warehouse);
    const told: string[] = [];
    const onFailure = (message: string): void => void told.push(message);
    const along = await BackgroundPublisher.open({
      warehouse,
      tables: [items, parts],
      everyMs: 0,
      effects: clock,
      onFailure,
    });
    const commit = async (at: number) => {
      await commitItems(store, 10 * at, 10 * at + 9);
      clock.monotonicMs += 1000;
      along.committed();
    };
    await writeFile(join(warehouse, 'iceberg'), 'not a folder');
    for (const at of [0, 1]) {
      await commit(at);
      expect(String((await finish(along))?.error)).toContain('iceberg');
    }
    expect(told).toEqual([expect.stringContaining('iceberg')]);
    await rm(join(warehouse, 'iceberg'));
    await commit(2);
    expect(await finish(along)).toMatchObject({ report: { entry: 3 } });
    expect(told).toHaveLength(1);
    await store.close();
  });
});

/** The snapshot of a tag, once it is published. */
async function waitFor(warehouse: string, tag: string) {
  for (;;) {
    const tags: readonly string[] = await tagsOf(warehouse, 'parts').catch(() => []);
    if (tags.includes(tag)) return readSnapshot(warehouse, 'items', tag);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('tonlake run --publish iceberg ends with published tables, and refuses what cannot be published first', async () => {
  const sandbox = await startSandbox();
  afterFile(() => sandbox.close());
  const warehouse = join(freshFolder(), 'w');
  const place = ['--network', sandbox.url, '--range', '1000:1001', '--publish', 'iceberg'];
  const { code, stdout } = await tonlake(['run', 'transactions', '--warehouse', warehouse, ...place]);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/\/iceberg: 4 tables at entry-\d+, 4 of them new/)]);
  expect((await readSnapshot(warehouse, 'transactions')).rows).toBeGreaterThan(0);
  const again = await exportRange(sandbox.url, '1002:1002', warehouse, ['--publish', 'iceberg']);
  expect(again).toMatchObject({ code: 0, report: { event: 'done', complete: true } });
  expect(await tagsOf(warehouse, 'transactions')).toHaveLength(2);
  const refused = await tonlake(['run', '--warehouse', `${warehouse}.duckdb`, ...place]);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('expected a folder of Parquet files')]);
});
