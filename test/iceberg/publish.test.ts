import { statSync } from 'node:fs';
import { cp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { text } from '../../src/declare/column.ts';
import { table } from '../../src/declare/table.ts';
import type { SmallObjects } from '../../src/objects/object-store.ts';
import { LedgerFolder } from '../../src/warehouse/ledger/ledger-folder.ts';
import { compact } from '../warehouse/compacting.ts';
import { withoutLinks } from '../warehouse/filesystem.ts';
import { changedItems, clockAt, commitItems, freshPath, listAll, openTestStore } from '../warehouse/warehouses.ts';
import { metadataOf, publish, publishTables, readSnapshot, tagsOf } from './published.ts';

/** Three entries of ten items, over two days. */
async function makeWarehouse(path = freshPath('parquet')): Promise<string> {
  const store = await openTestStore(path);
  for (const from of [0, 10, 20]) await commitItems(store, from, from + 9, { perDay: 15 });
  await store.close();
  return path;
}

async function addItems(path: string, from: number): Promise<void> {
  const store = await openTestStore(path);
  await commitItems(store, from, from + 9, { perDay: 15 });
  await store.close();
}

const made = await makeWarehouse();

async function copyOfMade(): Promise<string> {
  const path = freshPath('parquet');
  await cp(made, path, { recursive: true });
  return path;
}

describe('a warehouse that is published', () => {
  test('has every row of every table in files that it already had', async () => {
    const path = await copyOfMade();
    const before = (await listAll(path)).filter((name) => name.endsWith('.parquet'));
    const { report, events } = await publishTables(path);
    expect(report).toMatchObject({ event: 'done', warehouse: path, entry: 3, tables: 2, published: 2, skipped: [] });
    expect(events).toMatchObject([
      { table: 'items', outcome: 'published', files: 4, rows: 30, added: 4, removed: 0, manifests: 1, written: 1 },
      { table: 'parts', outcome: 'published', files: 3, rows: 60, added: 3, removed: 0 },
    ]);
    expect(await readSnapshot(path, 'items')).toMatchObject({ rows: 30 });
    expect(await readSnapshot(path, 'parts', 'entry-3')).toMatchObject({ rows: 60 });
    const after = (await listAll(path)).filter((name) => name.endsWith('.parquet'));
    expect(after.filter((name) => name.startsWith('tables/'))).toEqual(before);
    // A second name is no second file.
    expect(new Set(after.map((name) => statSync(join(path, name)).ino)).size).toBe(before.length);
    expect(after.map((name) => name.replace('pinned/', 'tables/')).sort()).toEqual([...before, ...before].sort());
  });

  test('describes columns, days and rights as Iceberg does', async () => {
    const path = await copyOfMade();
    await publish(path);
    const metadata = await metadataOf(path, 'items');
    expect(metadata).toMatchObject({
      'format-version': 2,
      location: `${path}/iceberg/items`,
      'partition-specs': [{ 'spec-id': 0, fields: [{ name: 'block_date', transform: 'identity', 'source-id': 7 }] }],
      schemas: [
        {
          fields: [
            { id: 1, name: 'hash', required: false, type: 'string', doc: 'text' },
            { id: 2, name: 'lt', type: 'long', doc: 'logical time [lt]' },
            { id: 3, name: 'now', type: 'long' },
            { id: 4, name: 'fees', type: 'long', doc: 'amount [nanoton]' },
            { id: 5, name: 'comment', type: 'string' },
            { id: 6, name: 'block_time', type: 'timestamp' },
            { id: 7, name: 'block_date', type: 'date' },
            { id: 8, name: '_extra', type: 'string' },
          ],
        },
      ],
      properties: { 'gc.enabled': 'false', comment: 'one item of a test' },
    });
    expect(await metadataOf(path, 'parts')).toMatchObject({ 'partition-specs': [{ fields: [] }] });
  });

  test('again changes nothing; a new entry adds its files, and is tagged in every table', async () => {
    const path = await copyOfMade();
    await publish(path);
    const before = await listAll(path);
    expect(await publish(path)).toMatchObject({ entry: 3, published: 0 });
    expect(await listAll(path)).toEqual(before);
    await addItems(path, 30);
    const { events } = await publishTables(path);
    expect(events).toMatchObject([
      { table: 'items', outcome: 'published', added: 1, removed: 0 },
      { table: 'parts', outcome: 'published', added: 1, removed: 0 },
    ]);
    for (const table of ['items', 'parts']) expect(await tagsOf(path, table)).toEqual(['entry-3', 'entry-4']);
    expect(await readSnapshot(path, 'items', 'entry-3')).toMatchObject({ rows: 30 });
    expect(await readSnapshot(path, 'items')).toMatchObject({ rows: 40 });
  });

  test('a table that an entry does not change is tagged without a new snapshot', async () => {
    const path = await copyOfMade();
    await publish(path);
    const store = await openTestStore(path);
    const stage = store.stage({ from: 30, to: 30 });
    await store.commit(await stage.finish(), {
      ...{ network: 'sandbox', pipeline: 'items', version: 1, span: { from: 30, to: 30 }, verdict: 'accepted' },
      ...{ requests: 1, retries: 0, supersedes: [] },
    });
    await store.close();
    expect(await publish(path)).toMatchObject({ entry: 4, published: 0 });
    expect(await tagsOf(path, 'items')).toEqual(['entry-3', 'entry-4']);
    expect((await metadataOf(path, 'items'))['snapshots']).toHaveLength(1);
  });
});

describe('superseded files', () => {
  test('leave the newest snapshot, and stay for older ones until these expire', async () => {
    const path = await copyOfMade();
    const clock = clockAt(Date.now());
    await publish(path, { effects: clock });
    await compact(path);
    await publish(path, { effects: clock });
    const [older, newer] = [await readSnapshot(path, 'items', 'entry-3'), await readSnapshot(path, 'items')];
    expect([older.rows, newer.rows]).toEqual([30, 30]);
    expect(newer.files.length).toBeLessThan(older.files.length);
    // No reader has to be waited for: only that they are published keeps them.
    await (await openTestStore(path, { graceMs: 0 })).close();
    await (await openTestStore(path, { graceMs: 0 })).close();
    expect(await readSnapshot(path, 'items', 'entry-3')).toEqual(older);
    clock.time += 86_400_000;
    await publish(path, { effects: clock });
    const [kept = '', ...others] = await tagsOf(path, 'items');
    expect(others).toEqual([]);
    expect(await readSnapshot(path, 'items', kept)).toEqual(newer);
    await (await openTestStore(path, { graceMs: 0 })).close();
    expect(
      (await listAll(path)).filter((name) => name.startsWith('pinned/tables') || older.files.includes(name)),
    ).toEqual([]);
  });

  test.each([
    ['a checkpoint keeps their entries', 'published', [1, 2, 3]],
    ['a checkpoint that did not know of them left their entries out', 'unpublished', [2, 3]],
  ] as const)('stay long after they were superseded: %s', async (_, state, kept) => {
    const path = freshPath('parquet');
    const clock = clockAt(Date.now() - 10 * 86_400_000);
    const store = await openTestStore(path, { effects: clock });
    const first = await commitItems(store, 0, 9);
    await publish(path, { effects: clock });
    await commitItems(store, 0, 9, { supersedes: [first.id] });
    clock.time += 5 * 86_400_000;
    await commitItems(store, 10, 19);
    await store.close();
    const marks = join(path, 'iceberg', '_entries');
    if (state === 'unpublished') await rename(marks, `${marks}.away`);
    const ledger = new LedgerFolder(path);
    await ledger.refresh();
    await ledger.writeCheckpoint();
    if (state === 'unpublished') await rename(`${marks}.away`, marks);
    const again = new LedgerFolder(path);
    await again.refresh();
    expect(again.entries.all.map(({ number }) => number)).toEqual(kept);
    for (const _ of [1, 2]) await (await openTestStore(path, { effects: clock, graceMs: 0 })).close();
    expect(await readSnapshot(path, 'items', 'entry-1')).toMatchObject({ rows: 10 });
  });

  test('go when their marks go, which a writer that has nothing else to clear sees', async () => {
    const path = freshPath('parquet');
    const clock = clockAt(Date.now() - 10 * 86_400_000);
    const writer = () => openTestStore(path, { effects: clock, graceMs: 0 });
    const store = await writer();
    const first = await commitItems(store, 0, 9);
    await publish(path, { effects: clock });
    await commitItems(store, 0, 9, { supersedes: [first.id] });
    clock.time += 3_600_000;
    await store.close();
    await (await writer()).close();
    const settled = join(path, '_checkpoints', 'settled.json');
    const note = await readFile(settled, 'utf8');
    await (await writer()).close();
    expect(await readFile(settled, 'utf8')).toBe(note);
    const files = (await readSnapshot(path, 'items', 'entry-1')).files;
    const open = await writer();
    for (const _ of [1, 2]) {
      await publish(path, { effects: clock });
      clock.time += 2 * 86_400_000;
    }
    expect(await tagsOf(path, 'items')).toEqual(['entry-2']);
    await open.close();
    expect((await listAll(path)).some((name) => files.includes(name))).toBe(true);
    await (await writer()).close();
    expect((await listAll(path)).filter((name) => files.includes(name))).toEqual([]);
  });

  test('a table without rows is published as empty, as one that was forgotten is', async () => {
    const path = await copyOfMade();
    await publish(path);
    await writeFile(join(path, 'iceberg', 'README'), 'not a table');
    const store = await openTestStore(path);
    const supersedes = store.ledger().map(({ id }) => id);
    const stage = store.stage({ from: 0, to: 29 });
    await store.commit(await stage.finish(), {
      ...{ network: 'sandbox', pipeline: 'items', version: 1, span: { from: 0, to: 29 }, verdict: 'accepted' },
      ...{ requests: 0, retries: 0, supersedes, scope: 'forgotten', forgotten: { by: 'command' } },
    });
    await store.close();
    const { report, events } = await publishTables(path);
    expect(report).toMatchObject({ entry: 4, skipped: [] });
    expect(events).toMatchObject([
      { table: 'items', outcome: 'published', files: 0, removed: 4 },
      { table: 'parts', outcome: 'published', files: 0, removed: 3 },
    ]);
    expect(await readSnapshot(path, 'items')).toEqual({ files: [], rows: 0 });
    expect(await readSnapshot(path, 'items', 'entry-3')).toMatchObject({ rows: 30 });
    expect(await publish(path)).toMatchObject({ published: 0 });
  });
});

describe('columns', () => {
  const wider = changedItems((columns) => [
    ...columns,
    ...table('more', {
      ...{ grain: '', rows: { kind: 'records', path: '/rows' }, key: ['note'] },
      columns: { note: text('/note', 'a new column').nullable() },
    }).columns.slice(0, 1),
  ]);

  test('a new one gets a new id, and the others keep theirs', async () => {
    const path = await copyOfMade();
    await publish(path);
    const before = (await metadataOf(path, 'items'))['schemas'];
    expect(await publish(path, { tables: [wider] })).toMatchObject({ skipped: [] });
    const metadata = await metadataOf(path, 'items');
    const [old, now] = metadata['schemas'] as { readonly fields: readonly { readonly id: number }[] }[];
    expect([old]).toEqual(before);
    expect(now?.fields.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(await readSnapshot(path, 'items')).toMatchObject({ rows: 30 });
    expect(metadata['snapshots']).toHaveLength(2);
  });
});

describe('what lies in iceberg/ is made anew', () => {
  test('when the warehouse was moved: its manifests name the files at their old path', async () => {
    const path = await copyOfMade();
    await publish(path);
    const moved = freshPath('parquet');
    await rename(path, moved);
    const { events } = await publishTables(moved);
    expect(events).toMatchObject([
      { table: 'items', restarted: 'moved', added: 4 },
      { table: 'parts', restarted: 'moved', added: 3 },
    ]);
    expect(await readSnapshot(moved, 'items')).toMatchObject({ rows: 30 });
    expect(await publish(moved)).toMatchObject({ published: 0 });
    const { events: shown } = await publishTables(moved, { location: '/srv/w' });
    expect(shown).toMatchObject([{ restarted: 'moved' }, { restarted: 'moved' }]);
    expect(await metadataOf(moved, 'items')).toMatchObject({ location: '/srv/w/iceberg/items' });
  });

  test('when the ledger is another one, such as that of a backup', async () => {
    const path = await copyOfMade();
    await addItems(path, 30);
    await publish(path);
    const published = join(freshPath('parquet'), '..', 'iceberg');
    await cp(join(path, 'iceberg'), published, { recursive: true });
    for (const more of [0, 1, 2]) {
      await rm(path, { recursive: true });
      await cp(made, path, { recursive: true });
      await cp(published, join(path, 'iceberg'), { recursive: true });
      for (let at = 0; at < more; at++) await addItems(path, 100 + 10 * at);
      const { report, events } = await publishTables(path);
      expect(report).toMatchObject({ entry: 3 + more });
      expect(events).toMatchObject([{ restarted: 'replaced' }, { restarted: 'replaced' }]);
      expect(await readSnapshot(path, 'items')).toMatchObject({ rows: 30 + 10 * more });
      expect(await tagsOf(path, 'items')).toEqual([`entry-${3 + more}`]);
      expect(await publish(path)).toMatchObject({ published: 0 });
    }
  });

  test('when marks are gone as well, and the tables show a newer entry than there is', async () => {
    const path = await copyOfMade();
    await addItems(path, 30);
    await publish(path);
    await cp(join(path, 'iceberg'), `${path}-iceberg`, { recursive: true });
    await rm(path, { recursive: true });
    await cp(made, path, { recursive: true });
    await rename(`${path}-iceberg`, join(path, 'iceberg'));
    await rm(join(path, 'iceberg', '_entries'), { recursive: true });
    const { report, events } = await publishTables(path);
    expect(report).toMatchObject({ entry: 3 });
    expect(events).toMatchObject([{ restarted: 'replaced' }, { restarted: 'replaced' }]);
    expect(await readSnapshot(path, 'items')).toMatchObject({ rows: 30 });
  });

  const damages: Readonly<Record<string, (folder: string, names: readonly string[]) => Promise<unknown>>> = {
    'a manifest is missing': (folder, names) => rm(join(folder, names.find((name) => name.startsWith('m-')) ?? '')),
    'a manifest is truncated': (folder, names) => cut(join(folder, names.find((name) => name.startsWith('m-')) ?? '')),
    'a manifest list is missing': (folder, names) =>
      rm(join(folder, names.find((name) => name.startsWith('snap-')) ?? '')),
    'a manifest list is truncated': (folder, names) =>
      cut(join(folder, names.find((name) => name.startsWith('snap-')) ?? '')),
    'the metadata is truncated': (folder) => cut(join(folder, 'v1.metadata.json')),
    'another program has written to it': (folder) => appendForeign(folder),
  };
  for (const [damage, make] of Object.entries(damages)) {
    test(`when ${damage}`, async () => {
      const path = await copyOfMade();
      await publish(path);
      const folder = join(path, 'iceberg', 'items', 'metadata');
      const names = (await listAll(path))
        .filter((name) => name.startsWith('iceberg/items/'))
        .map((name) => name.slice(23));
      await make(folder, names);
      await addItems(path, 30);
      const { events } = await publishTables(path);
      expect(events).toMatchObject([
        { table: 'items', restarted: expect.stringMatching(/^(damaged|foreign)$/) },
        { table: 'parts', outcome: 'published' },
      ]);
      expect(await readSnapshot(path, 'items')).toMatchObject({ rows: 40 });
      expect(await publish(path)).toMatchObject({ published: 0 });
    });
  }

  test('but a hint that is lost or behind is written again', async () => {
    const path = await copyOfMade();
    await publish(path);
    await addItems(path, 30);
    await publish(path);
    const hint = join(path, 'iceberg', 'items', 'metadata', 'version-hint.text');
    for (const text of ['1', undefined, 'x', '17']) {
      if (text === undefined) await rm(hint);
      else await writeFile(hint, text);
      expect(await publish(path)).toMatchObject({ published: 0 });
      expect(await readFile(hint, 'utf8')).toBe('2');
    }
  });
});

async function cut(path: string): Promise<void> {
  const bytes = await readFile(path);
  await writeFile(path, bytes.subarray(0, bytes.length - 20));
}

/** A version that adds a snapshot without our summary, as Spark writes one. */
async function appendForeign(folder: string): Promise<void> {
  const metadata = JSON.parse(await readFile(join(folder, 'v1.metadata.json'), 'utf8'));
  const snapshot = { ...metadata.snapshots[0], 'snapshot-id': 7, summary: { operation: 'append' } };
  const changed = { ...metadata, snapshots: [...metadata.snapshots, snapshot], 'current-snapshot-id': 7 };
  await writeFile(join(folder, 'v2.metadata.json'), JSON.stringify(changed));
  await writeFile(join(folder, 'version-hint.text'), '2');
}

/** Fails at the write with a number, as a kill would; the files are as they are then. */
function failingObjects(failAt: number) {
  const counted = { writes: 0 };
  const before = () => {
    if (counted.writes++ === failAt) throw new Error('killed');
  };
  const wrap = (objects: SmallObjects): SmallObjects => ({
    ...objects,
    put: async (key, bytes) => {
      before();
      await objects.put(key, bytes);
    },
    putOrGet: async (key, bytes) => {
      before();
      return objects.putOrGet(key, bytes);
    },
  });
  return { wrap };
}

test('a kill at any write leaves every table readable, old or new, and the next publication finishes', async () => {
  const path = await copyOfMade();
  await publish(path);
  await addItems(path, 30);
  await compact(path);
  const started = `${path}-started`;
  await cp(join(path, 'iceberg'), started, { recursive: true });
  let failAt = 0;
  for (let isKilled = true; isKilled; failAt++) {
    await rm(join(path, 'iceberg'), { recursive: true });
    await cp(started, join(path, 'iceberg'), { recursive: true });
    const { wrap } = failingObjects(failAt);
    isKilled = await publish(path, { wrap }).then(
      () => false,
      () => true,
    );
    for (const [table, each] of [
      ['items', 1],
      ['parts', 2],
    ] as const) {
      const { rows } = await readSnapshot(path, table);
      expect([30 * each, 40 * each]).toContain(rows);
      expect((await readSnapshot(path, table, 'entry-3')).rows).toBe(30 * each);
      // What a table may show is marked, so that no writer removes its files.
      for (const tag of await tagsOf(path, table))
        expect(await listAll(path)).toContain(`iceberg/_entries/${tag.slice(6).padStart(8, '0')}.json`);
    }
    await publish(path);
    expect([(await readSnapshot(path, 'items')).rows, (await readSnapshot(path, 'parts')).rows]).toEqual([40, 80]);
    expect(await publish(path)).toMatchObject({ published: 0 });
  }
  expect(failAt).toBe(9);
  await rm(started, { recursive: true });
});

test('publishers at once, while writers come and go, end with the newest state on top', async () => {
  const path = await copyOfMade();
  const publishers: Promise<unknown>[] = [];
  for (const from of [30, 40, 50, 60]) {
    publishers.push(publish(path), publish(path));
    const store = await openTestStore(path);
    await commitItems(store, from, from + 9, { perDay: 15 });
    await store.close();
  }
  await Promise.all(publishers);
  await publish(path);
  const tags = await tagsOf(path, 'items');
  expect(tags.at(-1)).toBe('entry-7');
  for (const tag of tags) expect((await readSnapshot(path, 'items', tag)).rows).toBe(10 * Number(tag.slice(6)));
  expect((await readSnapshot(path, 'items')).rows).toBe(70);
});

describe('refuses', () => {
  test('a DuckDB warehouse, which has no Parquet files', async () => {
    const path = freshPath('duckdb');
    await (await openTestStore(path)).close();
    await expect(publish(path)).rejects.toThrow('expected a folder of Parquet files');
  });

  test('an empty warehouse, and none', async () => {
    const path = freshPath('parquet');
    await expect(publish(path)).rejects.toMatchObject({ code: 'no-warehouse' });
    await (await openTestStore(path)).close();
    await expect(publish(path)).rejects.toMatchObject({ code: 'no-rows' });
  });

  test('a file system without hard links, where superseded files change their paths', async () => {
    await withoutLinks(async () => {
      await expect(publish(await makeWarehouse())).rejects.toThrow(/ is on a file system without hard links, /);
    });
  });

  test('to name a file that is gone', async () => {
    const path = await copyOfMade();
    const names = (await listAll(path)).filter((name) => name.endsWith('.parquet') && name.includes('items'));
    for (const name of names) await rm(join(path, name));
    await expect(publish(path)).rejects.toMatchObject({ code: 'damaged', hint: expect.stringContaining('verify') });
  });
});
