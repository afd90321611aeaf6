import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { LedgerEntry } from '../../src/warehouse/store.ts';
import {
  addItems,
  clockAt,
  commitItems,
  countItems,
  freshPath,
  listFiles,
  openTestStore,
  withStore,
} from './warehouses.ts';

const HOUR = 3_600_000;
const recordPath = (path: string): string => join(path, '_checkpoints', 'settled.json');
const hasRecord = (path: string): boolean => existsSync(recordPath(path));

let path: string;
let first: LedgerEntry;

beforeEach(async () => {
  path = freshPath('parquet');
  first = await withStore(path, (store) => commitItems(store, 0, 9));
});

/** Puts a file of no entry beside those of the first one. */
function addStray(folder = dirname(first.tables['items']?.files[0]?.path ?? '')): string {
  const stray = join(path, folder, '1-9-abc.parquet');
  mkdirSync(dirname(stray), { recursive: true });
  writeFileSync(stray, 'of a commit that did not happen');
  return stray;
}

async function reopen(): Promise<void> {
  await (await openTestStore(path)).close();
}

describe('a writer that closed', () => {
  test('records the names in its folders', async () => {
    const before = readFileSync(recordPath(path), 'utf8');
    const files = (first.tables['items']?.files ?? []).map(({ path: file }) => file);
    expect(files).not.toEqual([]);
    for (const file of files) expect(JSON.parse(before)[dirname(file)][1]).toContain(basename(file));
    await reopen();
    expect(readFileSync(recordPath(path), 'utf8')).toBe(before);
  });

  test('keeps the next one from listing folders that have not changed', async () => {
    const record = JSON.parse(readFileSync(recordPath(path), 'utf8'));
    const folder = dirname(first.tables['items']?.files[0]?.path ?? '');
    record[folder][1].push('1-9-abc.parquet');
    writeFileSync(recordPath(path), JSON.stringify(record));
    const store = await openTestStore(path);
    // It is in the record alone.
    expect(await store.clearSuperseded()).toBe(1);
  });

  test('records the folders to which it added files', async () => {
    await addItems(path, [10, 19]);
    const stray = addStray();
    await reopen();
    expect(existsSync(stray)).toBe(false);
    expect(hasRecord(path)).toBe(true);
  });

  test.each(['tables/items', 'tables/parts/block_date=1999-01-01', 'pinned/items'])(
    'does not keep the next one from clearing %s',
    async (folder) => {
      const stray = addStray(folder);
      await reopen();
      expect(existsSync(stray)).toBe(false);
    },
  );

  test('does not hide a file that is lost', async () => {
    for (const { path: file } of first.tables['items']?.files ?? []) rmSync(join(path, file));
    await expect(openTestStore(path)).rejects.toMatchObject({ code: 'damaged' });
    // The failed writer has forgotten the folders.
    expect(hasRecord(path)).toBe(false);
  });

  test.each(['', 'null', '{}', '{"tables":', '[1]', '{"tables":"1 2"}', '{"tables":["1 2",[],[1]]}'])(
    'is not believed where its record is %j',
    async (text) => {
      const stray = addStray();
      writeFileSync(recordPath(path), text);
      await reopen();
      expect(existsSync(stray)).toBe(false);
    },
  );
});

test('there is no record while a writer is open, so that a killed one is cleared after', async () => {
  const store = await openTestStore(path);
  expect(hasRecord(path)).toBe(false);
  await store.close();
  expect(hasRecord(path)).toBe(true);
});

test('superseded files are known to the next writer, which removes them after the grace period', async () => {
  const effects = clockAt(Date.now());
  const store = await openTestStore(path, { effects });
  await commitItems(store, 0, 9, { supersedes: [first.id] });
  await store.close();
  const files = async (): Promise<number> => (await listFiles(path)).length;
  const before = await files();
  await (await openTestStore(path, { effects })).close();
  expect(await files()).toBe(before);
  effects.time += 2 * HOUR;
  await (await openTestStore(path, { effects })).close();
  expect(hasRecord(path)).toBe(true);
  expect(before).toBeGreaterThan(2);
  expect(await listFiles(path)).toHaveLength(2);
});

test('a commit that failed with files in place leaves the folders to the next writer', async () => {
  let isFailing = true;
  const store = await openTestStore(path, {
    onStep: async (step) => {
      if (step === 'put entry' && isFailing) throw new Error('no space left');
    },
  });
  await expect(commitItems(store, 10, 19)).rejects.toThrow('no space left');
  isFailing = false;
  await commitItems(store, 20, 29);
  await store.close();
  expect(hasRecord(path)).toBe(false);
  const again = await openTestStore(path);
  expect(await countItems(again)).toMatchObject({ rows: 20 });
  await again.close();
  expect(await listFiles(path)).toHaveLength(4);
  expect(hasRecord(path)).toBe(true);
});
