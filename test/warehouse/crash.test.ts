import { cp } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { contentHash } from '../../src/audit/content-hash.ts';
import type { Store } from '../../src/warehouse/store.ts';
import { freshFolder } from '../scratch.ts';
import { watchFlushes } from './filesystem.ts';
import { items, parts } from './tables.ts';
import {
  commitItems,
  countItems,
  filesOf,
  killOwner,
  listAll,
  listFiles,
  openTestStore,
  type StoreKind,
  stageItems,
} from './warehouses.ts';

interface Moment {
  readonly step: string;
  /** A copy of everything on disk at that moment, as kill -9 would leave it. */
  readonly path: string;
}

const fileOf = (kind: StoreKind) => (kind === 'parquet' ? 'w' : 'w.duckdb');

/** Does `work` on a warehouse and copies it before each of its steps. */
async function photograph(kind: StoreKind, work: (store: Store) => Promise<void>): Promise<Moment[]> {
  const folder = freshFolder();
  const moments: Moment[] = [];
  let isOn = false;
  const store = await openTestStore(join(folder, fileOf(kind)), {
    graceMs: 0,
    catalogMs: 1_000_000,
    onStep: async (step) => {
      if (!isOn) return;
      const copy = freshFolder();
      await cp(folder, copy, { recursive: true });
      await killOwner(join(copy, kind === 'parquet' ? 'w/_lock' : 'w.duckdb.lock'));
      moments.push({ step, path: join(copy, fileOf(kind)) });
    },
  });
  await commitItems(store, 1, 100);
  await commitItems(store, 101, 200);
  isOn = true;
  await work(store);
  await store.close();
  isOn = false;
  return moments;
}

const sums = async (store: Store) => [await contentHash(store.query, items), await contentHash(store.query, parts)];

describe.each<StoreKind>(['parquet', 'duckdb'])('%s', (kind) => {
  test('a run killed at any step of a commit leaves all of it or nothing, and a rerun completes it', async () => {
    const moments = await photograph(kind, async (store) => {
      await commitItems(store, 201, 300, { perDay: 50 });
    });
    const reference = await openTestStore(join(freshFolder(), fileOf(kind)));
    await commitItems(reference, 1, 100);
    await commitItems(reference, 101, 200);
    await commitItems(reference, 201, 300, { perDay: 50 });
    const expected = await sums(reference);
    await reference.close();
    const outcomes: string[] = [];
    for (const { step, path } of moments) {
      const store = await openTestStore(path);
      const isDone = store.ledger().length === 3;
      expect(await countItems(store), step).toEqual(
        isDone ? { rows: 300, distinct: 300, parts: 600 } : { rows: 200, distinct: 200, parts: 400 },
      );
      const files = new Set(await listAll(join(path, '..')));
      const dataFiles = [...files].filter((name) => name.endsWith('.parquet'));
      const named = filesOf(store.ledger());
      expect(dataFiles.length, step).toBe(named.length);
      expect(
        [...files].filter((name) => name.includes('stage')),
        step,
      ).toEqual([]);
      if (!isDone) await commitItems(store, 201, 300, { perDay: 50 });
      expect(await sums(store), step).toEqual(expected);
      await store.close();
      outcomes.push(`${step}: ${isDone ? 'all' : 'nothing'}`);
    }
    expect([...new Set(outcomes)]).toEqual(
      kind === 'parquet'
        ? [
            'write declaration: nothing',
            'write schemas: nothing',
            'move file: nothing',
            'sync folders: nothing',
            'put entry: nothing',
            'clear stage: all',
            'write catalog: all',
          ]
        : [
            'insert rows: nothing',
            'delete superseded rows: nothing',
            'insert entry: nothing',
            'commit: nothing',
            'clear stage: all',
          ],
    );
  });

  test('a run killed while it supersedes entries shows each row once', async () => {
    const moments = await photograph(kind, async (store) => {
      const supersedes = store.ledger().map(({ id }) => id);
      await commitItems(store, 1, 200, { supersedes });
    });
    expect(moments.length).toBeGreaterThan(4);
    expect(moments.some(({ step }) => step === 'retire files')).toBe(kind === 'parquet');
    for (const { step, path } of moments) {
      const store = await openTestStore(path, { graceMs: 0 });
      expect(await countItems(store), step).toEqual({ rows: 200, distinct: 200, parts: 400 });
      const named = filesOf(store.ledger());
      expect(await listFiles(join(path, '..'))).toHaveLength(named.length);
      await store.close();
    }
  });

  test('rows that were staged by a killed run are cleared away', async () => {
    const folder = freshFolder();
    const path = join(folder, fileOf(kind));
    const store = await openTestStore(path);
    await stageItems(store, { from: 1, to: 10 });
    const copy = freshFolder();
    await cp(folder, copy, { recursive: true });
    await killOwner(join(copy, kind === 'parquet' ? 'w/_lock' : 'w.duckdb.lock'));
    await store.close();
    const again = await openTestStore(join(copy, fileOf(kind)));
    const left = (await listAll(copy)).filter((name) => name.includes('stage'));
    expect(left).toEqual([]);
    expect((await countItems(again)).rows).toBe(0);
  });

  test('a commit that fails leaves neither rows nor an entry, and the next one succeeds', async () => {
    let breaks = true;
    const store = await openTestStore(join(freshFolder(), fileOf(kind)), {
      onStep: async (step) => {
        if (breaks && (step === 'put entry' || step === 'commit'))
          throw new Error('ENOSPC: no space left on device, write');
      },
    });
    await expect(commitItems(store, 1, 10)).rejects.toMatchObject({ code: 'disk-full', hint: expect.any(String) });
    expect(store.ledger()).toEqual([]);
    expect((await countItems(store)).rows).toBe(0);
    breaks = false;
    expect((await commitItems(store, 1, 10)).number).toBe(1);
    expect(await countItems(store)).toEqual({ rows: 10, distinct: 10, parts: 20 });
  });
});

test('the files of a commit, and their folders, are on the disk when it is done', async () => {
  const path = join(freshFolder(), 'w');
  const store = await openTestStore(path);
  const isFlushed = await watchFlushes(async () => void (await commitItems(store, 1, 100)));
  const files = filesOf(store.ledger());
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) {
    expect({ file: file.path, isFlushed: isFlushed(join(path, file.path)) }).toMatchObject({ isFlushed: true });
    expect({ file: file.path, isFlushed: isFlushed(dirname(join(path, file.path))) }).toMatchObject({
      isFlushed: true,
    });
  }
});
