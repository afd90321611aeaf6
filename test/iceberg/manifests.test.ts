import { describe, expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { encodeBound, isPromotion } from '../../src/iceberg/format/column-types.ts';
import { type PublishTableOptions, publishTable } from '../../src/iceberg/publish-table.ts';
import { folderVersions } from '../../src/iceberg/publish-target.ts';
import { oldestRetained } from '../../src/iceberg/publish-warehouse.ts';
import type { SmallObjects } from '../../src/objects/object-store.ts';
import type { DataFile, TableInForce } from '../../src/warehouse/index.ts';
import { schemaOf } from '../../src/warehouse/relations/table-schema.ts';
import { items } from '../warehouse/tables.ts';
import { type MemoryObjects, memoryObjects } from './published.ts';

const columns = schemaOf(items).columns;

/** A file of an entry, of one of 30 days. */
function fileOf(entry: number, more: Partial<DataFile> = {}): DataFile {
  const date = `2026-05-${String((entry % 30) + 1).padStart(2, '0')}`;
  const path = `items/block_date=${date}/${entry}-${entry}-e${entry}.parquet`;
  const bounds = { lt: [`${entry}000`, `${entry}999`, 0], now: ['1777593600', '1777593610', 0] } as const;
  return {
    ...{ path: `tables/${path}`, stablePath: `pinned/${path}`, rows: 10, bytes: 1000, entry, date },
    ...{ columns, bounds, sha256: '' },
    ...more,
  };
}

function tableOf(files: readonly DataFile[], table = items): TableInForce {
  return { table, isMart: false, partition: 'block_date', files };
}

const range = (count: number) => Array.from({ length: count }, (_, at) => fileOf(at + 1));

function publishFiles(folder: SmallObjects, files: readonly DataFile[], more: Partial<PublishTableOptions> = {}) {
  return publishTable({
    ...{
      versions: folderVersions(folder),
      table: tableOf(files),
      entry: files.at(-1)?.entry ?? 0,
      oldest: 0,
      isReplaced: false,
      coverage: {},
    },
    ...{ uriOf: ({ stablePath }) => `/w/${stablePath}`, pin: async () => {} },
    ...{ now: () => 1_800_000_000_000, freshId: realEffects.freshId },
    ...more,
  });
}

describe('of a table with 10,000 files', () => {
  test('a new one is written into one manifest of 21, and a merge into those of its sources', async () => {
    const folder = memoryObjects();
    const files = range(10_000);
    expect(await publishFiles(folder, files)).toMatchObject({ added: 10_000, manifests: 21, written: 21 });
    const count = folder.held.size;
    const more = [...files, fileOf(10_001)];
    expect(await publishFiles(folder, more)).toMatchObject({ added: 1, removed: 0, manifests: 21, written: 1 });
    // A manifest, a list and the metadata; the hint is replaced.
    expect(folder.held.size).toBe(count + 3);
    const merged = [...more.filter(({ entry }) => entry < 700 || entry >= 710), fileOf(10_002)];
    expect(await publishFiles(folder, merged)).toMatchObject({ added: 1, removed: 10, manifests: 21, written: 2 });
    const few = [fileOf(10_003)];
    expect(await publishFiles(folder, few)).toMatchObject({ added: 1, removed: merged.length, manifests: 21 });
    // Manifests that only tell of removed files do so once.
    expect(await publishFiles(folder, [...few, fileOf(10_004)])).toMatchObject({ manifests: 1, written: 1 });
  });
});

test('bounds that a repair corrected are published again', async () => {
  const folder = memoryObjects();
  await publishFiles(folder, [fileOf(1)]);
  const corrected = [fileOf(1, { bounds: { lt: ['1', '2', 0] } })];
  expect(await publishFiles(folder, corrected)).toMatchObject({
    outcome: 'published',
    added: 0,
    removed: 0,
    written: 1,
  });
  expect(await publishFiles(folder, corrected)).toMatchObject({ outcome: 'unchanged' });
});

test('what expired, and what failed attempts left, is removed every ten versions, but not what is young', async () => {
  const folder = memoryObjects();
  const failed = 'metadata/m-0-0123456789abcdef-99.avro';
  folder.held.set(failed, Buffer.from('of an attempt that failed'));
  folder.held.set('metadata/notes.txt', Buffer.from('of somebody else'));
  const publishNext = (entry: number) => publishFiles(folder, range(entry), { oldest: entry - 2 });
  // By the clock of the objects, whatever ours says.
  for (let entry = 1; entry <= 40; entry++) {
    folder.clock = entry * 60_000;
    await publishNext(entry);
  }
  // Three for each version, the hint, and the two from above.
  expect(folder.held.size).toBe(3 * 40 + 3);
  for (let entry = 41; entry <= 50; entry++) {
    folder.clock = 2 * 3_600_000;
    await publishNext(entry);
  }
  const names = [...folder.held.keys()].map((name) => name.slice('metadata/'.length));
  const ofKind = (prefix: RegExp) => names.filter((name) => prefix.test(name)).length;
  // Twenty versions, and what is as young as the newest of them; the hint.
  expect([ofKind(/^v\d/), ofKind(/^snap/), ofKind(/^m-/), ofKind(/^notes/), names.length]).toEqual([20, 10, 10, 1, 42]);
  folder.clock = 4 * 3_600_000;
  for (let entry = 51; entry <= 60; entry++) await publishNext(entry);
  expect([...folder.held.keys()].filter((name) => /snap-/.test(name))).toHaveLength(10);
  expect(folder.held.has(failed)).toBe(false);
});

test.each([
  ['damaged', Buffer.from('damaged')],
  ['missing', undefined],
])('a %s list of an older snapshot stops no publication, and nothing is removed', async (_, content) => {
  const folder = memoryObjects();
  for (let entry = 1; entry <= 9; entry++) await publishFiles(folder, range(entry));
  const list = [...folder.held.keys()].find((name) => /snap-\d+-1\.avro$/.test(name)) ?? '';
  if (content === undefined) folder.held.delete(list);
  else folder.held.set(list, content);
  const count = folder.held.size;
  expect(await publishFiles(folder, range(10))).toMatchObject({ outcome: 'published', version: 10, added: 1 });
  expect(folder.held.size).toBe(count + 3);
});

test('an attempt that took too long begins anew, because its manifests may have been swept', async () => {
  const folder = memoryObjects();
  let now = 1_800_000_000_000;
  let kept = 0;
  const done = await publishFiles(folder, range(3), {
    now: () => now,
    // The first time it takes 40 minutes.
    pin: async () => {
      if (kept++ === 0) now += 40 * 60_000;
    },
  });
  expect([done.outcome, kept]).toEqual(['published', 2]);
  expect(metadataIn(folder)).toMatchObject({ 'last-updated-ms': now });
});

describe('a mart whose select changed', () => {
  const withType = (kind: 'int32' | 'int64-number' | 'text') => ({
    ...items,
    columns: items.columns.map((column) => (column.name === 'fees' ? { ...column, kind } : column)),
  });
  const publishAs = (folder: SmallObjects, kind: 'int32' | 'int64-number' | 'text', of: typeof kind, entry: number) => {
    const table = withType(kind);
    const file = fileOf(entry, { columns: schemaOf(withType(of)).columns });
    return publishFiles(folder, [file], { table: tableOf([file], table) });
  };

  test('keeps the id of a column that becomes wider, also over older files', async () => {
    const folder = memoryObjects();
    await publishAs(folder, 'int32', 'int32', 1);
    const widened = await publishAs(folder, 'int64-number', 'int32', 2);
    expect(widened).toMatchObject({ outcome: 'published', restarted: undefined });
    expect(currentFields(folder)).toContainEqual(expect.objectContaining({ name: 'fees', id: 4, type: 'long' }));
  });

  test('is left as it was while files have a type that cannot be read as the new one', async () => {
    const folder = memoryObjects();
    await publishAs(folder, 'int32', 'int32', 1);
    await expect(publishAs(folder, 'int32', 'text', 2)).rejects.toMatchObject({ code: 'mixed-rows' });
    expect(currentFields(folder)).toContainEqual(expect.objectContaining({ name: 'fees', type: 'int' }));
  });

  test('begins its history anew with another type, because older snapshots could not be read', async () => {
    const folder = memoryObjects();
    await publishAs(folder, 'int32', 'int32', 1);
    expect(await publishAs(folder, 'text', 'text', 2)).toMatchObject({ restarted: 'changed' });
    expect(currentFields(folder)).toContainEqual(expect.objectContaining({ name: 'fees', id: 9, type: 'string' }));
    expect(metadataIn(folder)['snapshots']).toHaveLength(1);
  });

  test('and one that is no longer built by day, too', async () => {
    const folder = memoryObjects();
    await publishFiles(folder, [fileOf(1)]);
    const file = fileOf(2, { date: undefined });
    const table = { table: items, isMart: true, partition: undefined, files: [file] };
    expect(await publishFiles(folder, [file], { table })).toMatchObject({ restarted: 'changed' });
    expect(metadataIn(folder)).toMatchObject({
      'default-spec-id': 1,
      'partition-specs': [{ 'spec-id': 1, fields: [] }],
    });
    const mixed = { ...table, files: [file, fileOf(3)] };
    await expect(publishFiles(folder, mixed.files, { table: mixed })).rejects.toMatchObject({ code: 'mixed-rows' });
  });
});

function metadataIn(folder: MemoryObjects): Record<string, unknown> {
  const version = String(folder.held.get('metadata/version-hint.text'));
  return JSON.parse(String(folder.held.get(`metadata/v${version}.metadata.json`)));
}

function currentFields(folder: MemoryObjects): readonly unknown[] {
  const { schemas, 'current-schema-id': id } = metadataIn(folder) as {
    readonly schemas: readonly { readonly 'schema-id': number; readonly fields: readonly unknown[] }[];
    readonly 'current-schema-id': number;
  };
  return schemas.find((one) => one['schema-id'] === id)?.fields ?? [];
}

test('18 publishers of six states at once: every version is one of them, and the newest state is on top', async () => {
  const folder = memoryObjects();
  const states = [1, 2, 3, 4, 5, 6].flatMap((count) => [count, count, count]).reverse();
  const outcomes = await Promise.all(states.map((count) => publishFiles(folder, range(count))));
  const metadata = metadataIn(folder);
  expect(Object.keys(metadata['refs'] as object).at(-1)).toBe('entry-6');
  const published = outcomes.filter(({ outcome }) => outcome === 'published').length;
  expect(metadata['snapshots']).toHaveLength(published);
  expect(outcomes.every(({ outcome }) => outcome !== 'overtaken' || published < 18)).toBe(true);
});

test('a snapshot stays for the given time after it was replaced, and at least an hour; beyond it, the last 100', () => {
  const hour = 3_600_000;
  const marks = (count: number, everyMs: number) =>
    Array.from({ length: count }, (_, at) => ({ number: at + 1, id: 'x', publishedAt: at * everyMs }));
  const now = (count: number, everyMs: number) => (count - 1) * everyMs;
  expect(oldestRetained(marks(1, hour), 1e12, 0)).toBe(1);
  expect(oldestRetained(marks(30, hour), now(30, hour), 24 * hour)).toBe(6);
  expect(oldestRetained(marks(30, hour), now(30, hour), 0)).toBe(29);
  expect(oldestRetained(marks(3, 24 * hour), now(3, 24 * hour), 24 * hour)).toBe(2);
  expect(oldestRetained(marks(300, 60_000), now(300, 60_000), 24 * hour)).toBe(201);
  expect(oldestRetained(marks(300, 10_000), now(300, 10_000), 24 * hour)).toBe(1);
});

test('bounds are little-endian words of their types, and types widen as the specification allows', () => {
  expect(encodeBound('int', '-2')).toEqual(Buffer.from('feffffff', 'hex'));
  expect(encodeBound('date', '20574')).toEqual(Buffer.from('5e500000', 'hex'));
  expect(encodeBound('long', '9223372036854775807')).toEqual(Buffer.from('ffffffffffffff7f', 'hex'));
  expect(encodeBound('timestamp', '-1')).toEqual(Buffer.from('ffffffffffffffff', 'hex'));
  expect(encodeBound('string', 'a')).toBeUndefined();
  expect(isPromotion('int', 'long')).toBe(true);
  expect(isPromotion('long', 'int')).toBe(false);
  expect(isPromotion('decimal(20, 0)', 'decimal(38, 0)')).toBe(true);
  expect(isPromotion('decimal(38, 0)', 'decimal(20, 0)')).toBe(false);
  expect(isPromotion('long', 'decimal(38, 0)')).toBe(false);
});
