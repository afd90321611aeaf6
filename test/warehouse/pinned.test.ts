import { existsSync, statSync } from 'node:fs';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Database } from '../../src/sql/database.ts';
import { openReader } from '../../src/warehouse/open-store.ts';
import { pinFile, pinnedPath, restoreFile, retireFile } from '../../src/warehouse/parquet-store/pinned-files.ts';
import { compact, compactKilled, tables } from './compacting.ts';
import { withoutLinks } from './filesystem.ts';
import { clockAt, commitItems, countItems, freshPath, listAll, openTestStore } from './warehouses.ts';

let duckdb: Database;

beforeAll(async () => {
  duckdb = await Database.open();
});

afterAll(() => duckdb.close());

async function makeWarehouse(): Promise<string> {
  const path = freshPath('parquet');
  const store = await openTestStore(path);
  for (const from of [0, 10, 20]) await commitItems(store, from, from + 9, { perDay: 15 });
  await store.close();
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

describe('the second name of a file', () => {
  test('is never free while a publisher makes it sure, also if it is a copy', async () => {
    const path = await makeWarehouse();
    const [file = ''] = (await listAll(path)).filter((name) => name.startsWith('tables/items/'));
    const name = join(path, pinnedPath(file));
    for (const isCopy of [false, true]) {
      if (isCopy) {
        await rm(name);
        await cp(join(path, file), name);
      }
      let isDone = false;
      const pinned = pinFile(path, file).finally(() => {
        isDone = true;
      });
      while (!isDone) {
        expect(existsSync(name)).toBe(true);
        await setImmediate();
      }
      expect(await pinned).toBe(true);
      expect(statSync(name).nlink).toBe(2);
      expect((await listAll(path)).filter((each) => each.includes('/0-0-'))).toEqual([]);
    }
  });

  test('stays where a writer retires the file while a publisher makes it sure', async () => {
    const path = await makeWarehouse();
    const [file = ''] = (await listAll(path)).filter((name) => name.startsWith('tables/items/'));
    for (let turn = 0; turn < 50; turn++) {
      const pinning = pinFile(path, file).catch((error: unknown) => expect(error).toMatchObject({ code: 'ENOENT' }));
      await Promise.all([pinning, retireFile(path, file)]);
      expect(existsSync(join(path, pinnedPath(file)))).toBe(true);
      await restoreFile(path, file);
    }
  });
});

describe('a superseded file', () => {
  test('leaves the folder of its table at once, and stays where lists and open catalogs name it', async () => {
    const path = await makeWarehouse();
    const reader = await openReader(path, tables, { isPinned: true });
    const files = await reader.files('items');
    const catalog = await Database.open(join(path, 'warehouse.duckdb'), { access_mode: 'READ_ONLY' });
    expect(await countFolder(path)).toBe(30);
    expect(await compact(path)).toMatchObject({ merged: 1 });
    expect(await countFolder(path)).toBe(30);
    expect(await countFiles(files)).toBe(30);
    expect((await catalog.query('SELECT count(*) FROM items')).rows).toEqual([[30n]]);
    expect((await countItems(reader)).rows).toBe(30);
    expect(await countFiles(await reader.files('items'))).toBe(30);
    catalog.close();
    await reader.close();
    await (await openTestStore(path, { graceMs: 0 })).close();
    expect(await countFolder(path)).toBe(30);
    expect((await listAll(path)).filter((name) => name.endsWith('.parquet'))).toHaveLength(6);
  });

  test('is removed an hour after the clock was put right, if it was ahead when the file was superseded', async () => {
    const path = await makeWarehouse();
    const right = Date.now();
    const hours = (count: number) => clockAt(right + count * 3_600_000);
    const count = async () => (await listAll(path)).filter((name) => name.endsWith('.parquet')).length;
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

  test('the same on a file system without hard links, but for lists of files', async () => {
    await withoutLinks(async () => {
      const path = await makeWarehouse();
      const reader = await openReader(path, tables, { isPinned: true });
      await compact(path);
      expect(await countFolder(path)).toBe(30);
      expect(await countFiles(await reader.files('items'))).toBe(30);
      await reader.close();
      await (await openTestStore(path, { graceMs: 0 })).close();
      expect((await listAll(path)).filter((name) => name.endsWith('.parquet'))).toHaveLength(3);
    });
  });

  test('a kill at any step is put right by the next writer', async () => {
    const path = await makeWarehouse();
    const moments = await compactKilled(path);
    expect(moments.length).toBeGreaterThan(5);
    for (const copy of moments) {
      await (await openTestStore(copy)).close();
      expect(await countFolder(copy)).toBe(30);
      const reader = await openReader(copy, tables);
      expect((await countItems(reader)).rows).toBe(30);
      await reader.close();
    }
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

test('a copy that has each file twice has it once again after the next command that writes', async () => {
  const path = await makeWarehouse();
  const copy = freshPath('parquet');
  await cp(path, copy, { recursive: true });
  await (await openTestStore(copy)).close();
  const reader = await openReader(copy, tables);
  for (const file of await reader.files('items')) expect(file).toContain('/pinned/');
  await reader.close();
  await compact(copy);
  expect(await countFolder(copy)).toBe(30);
});
