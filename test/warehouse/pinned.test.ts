import { existsSync, statSync } from 'node:fs';
import { cp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { Database } from '../../src/sql/database.ts';
import { pinFile, pinnedPath, restoreFile, retireFile } from '../../src/warehouse/parquet-store/pinned-files.ts';
import { compact, compactKilled } from './compacting.ts';
import { withoutLinks } from './filesystem.ts';
import { itemRows, items } from './tables.ts';
import {
  clockAt,
  commitItems,
  commitRows,
  countItems,
  freshPath,
  listAll,
  listFiles,
  makeItems,
  openTestReader,
  openTestStore,
  queryFile,
  tens,
} from './warehouses.ts';

const duckdb = await Database.open();

afterAll(() => duckdb.close());

async function makeWarehouse(): Promise<string> {
  const path = await makeItems('parquet', ...tens(3, { perDay: 15 }));
  return path;
}

/** What any program finds below the folder of a table. */
async function countFolder(path: string): Promise<number> {
  const { rows } = await duckdb.query(`SELECT count(*) FROM read_parquet('${path}/tables/items/**/*.parquet')`);
  return Number(rows[0]?.[0]);
}

async function countFiles(files: readonly string[]): Promise<number> {
  const { rows } = await duckdb.query(`SELECT count(*) FROM read_parquet([${files.map((file) => `'${file}'`)}])`);
  return Number(rows[0]?.[0]);
}

/** Every name below a folder with the size of its file, as a copy by `cp -r` has them. */
async function bytesOf(path: string): Promise<number> {
  const files = (await listAll(path)).filter((name) => !name.startsWith('_lock'));
  return files.reduce((sum, name) => sum + statSync(join(path, name)).size, 0);
}

describe('a data file', () => {
  test('has one name, so that a copy is a warehouse of the same size', async () => {
    const path = await makeWarehouse();
    expect(
      (await listFiles(path)).every((name) => name.startsWith('tables/') && statSync(join(path, name)).nlink === 1),
    ).toBe(true);
    const copy = freshPath('parquet');
    await cp(path, copy, { recursive: true });
    expect(await bytesOf(copy)).toBe(await bytesOf(path));
    await compact(copy);
    expect(await countFolder(copy)).toBe(30);
    const reader = await openTestReader(copy);
    expect((await countItems(reader)).rows).toBe(30);
  });

  test('that is published has a second name, which stays where a writer retires the first one meanwhile', async () => {
    const path = await makeWarehouse();
    const [file = ''] = (await listAll(path)).filter((name) => name.startsWith('tables/items/'));
    for (let turn = 0; turn < 50; turn++) {
      const [isPinned] = await Promise.all([pinFile(path, file), retireFile(path, file)]);
      expect([isPinned, existsSync(join(path, pinnedPath(file))), existsSync(join(path, file))]).toEqual([
        true,
        true,
        false,
      ]);
      expect(await restoreFile(path, file, turn % 2 === 0)).toBe(true);
      expect(existsSync(join(path, file))).toBe(true);
    }
  });
});

describe('a superseded file', () => {
  test('leaves the folder of its table at once, stays for readers that are open, and leaves no folder behind', async () => {
    const path = await makeWarehouse();
    const reader = await openTestReader(path, { isPinned: true });
    expect((await countItems(reader)).rows).toBe(30);
    expect(await countFolder(path)).toBe(30);
    expect(await compact(path)).toMatchObject({ merged: 1 });
    expect(await countFolder(path)).toBe(30);
    expect((await countItems(reader)).rows).toBe(30);
    expect(await countFiles(await reader.files('items'))).toBe(30);
    await reader.close();
    await (await openTestStore(path, { graceMs: 0 })).close();
    expect(await countFolder(path)).toBe(30);
    expect(await listFiles(path)).toHaveLength(3);
    expect(await readdir(join(path, 'pinned/items'))).toEqual([]);
  });

  test('leaves the folder of its table also if it is the only one', async () => {
    const path = freshPath('parquet');
    const store = await openTestStore(path);
    const span = { from: 0, to: 9 };
    const { id } = await commitRows(store, items, itemRows(0, 9), span);
    await commitRows(store, items, itemRows(0, 9), span, { supersedes: [id] });
    await store.close();
    expect(await countFolder(path)).toBe(10);
  });

  test('leaves after the catalog that does not name it is there, whenever the writer is killed', async () => {
    const path = await makeWarehouse();
    const moments = await compactKilled(path);
    expect(moments.length).toBeGreaterThan(5);
    for (const moment of [...moments, path]) {
      expect(await queryFile(moment, 'SELECT count(*) FROM items')).toEqual([[30n]]);
      // The next writer puts right what a kill has left.
      await (await openTestStore(moment)).close();
      expect(await countFolder(moment)).toBe(30);
      expect((await countItems(await openTestReader(moment))).rows).toBe(30);
    }
  });

  test('is removed an hour after the clock was put right, if it was ahead when the file was superseded', async () => {
    const path = await makeWarehouse();
    const right = Date.now();
    const hours = (count: number) => clockAt(right + count * 3_600_000);
    const count = async () => (await listFiles(path)).length;
    expect(await compact(path, { effects: hours(24 * 365) })).toMatchObject({ merged: 1 });
    const before = await count();
    for (const [at, from] of [
      [0, 30],
      [0.9, 40],
    ] as const) {
      const store = await openTestStore(path, { effects: hours(at) });
      await commitItems(store, from, from + 9, { perDay: 15 });
      await store.close();
    }
    expect(await count()).toBeGreaterThan(before);
    const sum = await count();
    await (await openTestStore(path, { effects: hours(1.1) })).close();
    expect(await count()).toBeLessThan(sum);
    expect(await countFolder(path)).toBe(50);
  });

  test('does the same on a file system without hard links', async () => {
    await withoutLinks(async () => {
      const path = await makeWarehouse();
      const reader = await openTestReader(path, { isPinned: true });
      await compact(path);
      expect(await countFolder(path)).toBe(30);
      expect(await countFiles(await reader.files('items'))).toBe(30);
      await reader.close();
      await (await openTestStore(path, { graceMs: 0 })).close();
      expect(await listFiles(path)).toHaveLength(3);
    });
  });

  test('is in force again where the entry that took its place is lost', async () => {
    const path = await makeWarehouse();
    await compact(path);
    await rm(join(path, '_ledger', '00000004.json'));
    const store = await openTestStore(path);
    expect(await countItems(store)).toMatchObject({ rows: 30, distinct: 30 });
    await store.close();
    expect(await countFolder(path)).toBe(30);
  });
});
