import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, onTestFinished, test, vi } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { run } from '../../src/export/run.ts';
import { readMissing } from '../../src/verify/read-missing.ts';
import type { Store } from '../../src/warehouse/store.ts';
import { makeBatchOf } from './batches.ts';
import { watchInstances } from './duckdb-instances.ts';
import { itemRows, items } from './tables.ts';
import {
  commitItems,
  countCatalog,
  draftOf,
  editFile,
  FOREIGN_CHANGES,
  freshPath,
  openTestStore,
  type StoreKind,
} from './warehouses.ts';

/** Opens a warehouse that writes a catalog after each commit at once. */
function openEager(path: string): Promise<Store> {
  return openTestStore(path, { catalogMs: 0, effects: { ...realEffects, sleep: async () => {} } });
}

const catalogOf = (path: string): string => join(path, 'warehouse.duckdb');

async function whenCataloged(path: string, work: () => Promise<unknown>): Promise<void> {
  const written = () => statSync(catalogOf(path), { throwIfNoEntry: false })?.ino;
  const before = written();
  await work();
  await vi.waitUntil(() => written() !== before, { timeout: 200_000 });
}

test('a warehouse has one instance of DuckDB, and none between commits, if it is told so, and goes on', async () => {
  const path = freshPath('parquet');
  const { open } = watchInstances();
  const store = await openEager(path);
  for (let at = 0; at < 3; at++) {
    await whenCataloged(path, () => commitItems(store, 10 * at, 10 * at + 9));
    expect((await store.query('SELECT count(*) FROM items')).rows).toEqual([[BigInt(10 * (at + 1))]]);
    expect(open.size).toBe(1);
    // The catalog is in use a moment longer.
    await vi.waitUntil(async () => store.closeIdle().then(() => open.size === 0), { timeout: 200_000 });
  }
  expect(await countCatalog(path)).toMatchObject({ items: 30 });
  await store.close();
  expect([await countCatalog(path), open.size]).toEqual([{ items: 30, parts: 60, commits: 3 }, 0]);
});

test('what another program changes in the catalog between two drafts is gone with the next one', async () => {
  const path = freshPath('parquet');
  const { open } = watchInstances();
  const store = await openEager(path);
  await whenCataloged(path, () => commitItems(store, 0, 9));
  await vi.waitUntil(async () => store.closeIdle().then(() => open.size === 0), { timeout: 200_000 });
  await editFile(catalogOf(path), FOREIGN_CHANGES);
  await commitItems(store, 10, 19);
  await store.close();
  expect(await countCatalog(path)).toEqual({ items: 20, parts: 40, commits: 2 });
});

test.each<StoreKind>(['parquet', 'duckdb'])(
  '%s: an instance that a stage uses stays open until it is finished',
  async (kind) => {
    const { open } = watchInstances();
    const store = await openTestStore(freshPath(kind));
    const before = open.size;
    const stage = store.stage({ from: 0, to: 9 });
    await stage.write(makeBatchOf(items, itemRows(0, 9)));
    const { connect } = DuckDBInstance.prototype;
    const connecting = vi.spyOn(DuckDBInstance.prototype, 'connect').mockImplementation(async function (
      this: DuckDBInstance,
    ) {
      await store.closeIdle();
      return connect.call(this);
    });
    onTestFinished(() => connecting.mockRestore());
    const staged = await stage.finish();
    // The instance's own connection, and that of the stage.
    expect([connecting.mock.calls.length, open.size]).toEqual([2, before + 1]);
    await store.commit(staged, draftOf({ from: 0, to: 9 }));
    await store.closeIdle();
    expect(open.size).toBe(before);
    expect((await store.query('SELECT count(*) FROM items')).rows).toEqual([[10n]]);
  },
);

test('what a warehouse lacks is told without keeping its file open', async () => {
  const warehouse = freshPath('duckdb');
  await run({ pipelines: ['blocks'], network: 'sandbox', range: '1000:1004', warehouse });
  const { open, opened } = watchInstances();
  expect(await readMissing({ warehouse, range: '1000:1006', pipelines: ['blocks'] })).toMatchObject({
    complete: false,
  });
  expect([opened.length > 0, open.size]).toEqual([true, 0]);
});
