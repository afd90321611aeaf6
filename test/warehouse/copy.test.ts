import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { type CopiedFile, copyWarehouse } from '../../src/warehouse/copy/copy-warehouse.ts';
import { parseCheckpoint } from '../../src/warehouse/ledger/checkpoints.ts';
import { HAS_BUCKETS, S3_PROGRAM, type S3Server, startS3, useS3 } from '../objects/s3-server.ts';
import { freshFolder } from '../scratch.ts';
import { compact } from './compacting.ts';
import {
  addItems,
  clockAt,
  commitItems,
  countItems,
  draftOf,
  filesOf,
  listAll,
  openTestReader,
  openTestStore,
  tens,
  withStore,
} from './warehouses.ts';

let server: S3Server | undefined;
let bucket = 0;

beforeAll(async () => {
  if (S3_PROGRAM === undefined) return;
  server = await startS3();
  useS3(server);
});

type Place = 'folder' | 'bucket';

function freshPlace(kind: Place): string {
  return kind === 'folder' ? join(freshFolder(), 'w') : `s3://lake/c${++bucket}`;
}

/** Where the files of a warehouse are on this disk. */
const onDisk = (path: string): string => path.replace(/^s3:\//, server?.folder ?? '');

const copy = (from: string, to: string, stopAfter?: number) => {
  const stop = new AbortController();
  let count = 0;
  const onEvent = (_: CopiedFile): void => {
    if (++count === stopAfter) stop.abort();
  };
  return copyWarehouse({ from, to, effects: realEffects, stop: stop.signal, onEvent });
};

/** Three commits of two tables, the last in place of the first. */
async function makeWarehouse(path: string): Promise<void> {
  const first = await withStore(path, (store) => commitItems(store, 1, 50));
  await addItems(path, [51, 80], [1, 50, { supersedes: [first.id], perDay: 10 }]);
}

/** What a copy has to have: the ledger, and the files of entries in force. */
async function contentOf(path: string): Promise<readonly (readonly [string, string])[]> {
  const names = (await listAll(onDisk(path))).filter((name) => /^(_ledger|_declarations|tables|tonlake)/.test(name));
  const ledger = await withStore(path, async (store) => store.ledger());
  const named = new Set(filesOf(ledger).map((file) => file.path));
  const kept = names.filter((name) => !name.startsWith('tables/') || named.has(name));
  return kept.map((name) => [name, readFileSync(join(onDisk(path), name), 'base64')]);
}

const places: readonly (readonly [Place, Place])[] = [
  ['folder', 'folder'],
  ['folder', 'bucket'],
  ['bucket', 'folder'],
  ['bucket', 'bucket'],
];

test('a copy of a folder whose files are merged meanwhile has all of them', async () => {
  const [from, to] = [freshPlace('folder'), freshPlace('folder')];
  await addItems(from, ...tens(20));
  let merging: Promise<unknown> | undefined;
  const onEvent = (): void => {
    merging ??= compact(from);
  };
  await copyWarehouse({ from, to, effects: realEffects, onEvent });
  expect(await merging).toMatchObject({ merged: 1 });
  const reader = await openTestReader(to);
  expect(await countItems(reader)).toEqual({ rows: 200, distinct: 200, parts: 400 });
});

test('a copy of a folder whose files are merged and collected meanwhile has the merged ones', async () => {
  const [from, to, later] = [freshPlace('folder'), freshPlace('folder'), freshPlace('folder')];
  await addItems(from, ...tens(20));
  cpSync(from, later, { recursive: true });
  await compact(later);
  await withStore(later, (store) => store.clearSuperseded(), { graceMs: 0 });
  const onEvent = (): void => {
    if (!existsSync(later)) return;
    rmSync(from, { recursive: true });
    renameSync(later, from);
  };
  expect(await copyWarehouse({ from, to, effects: realEffects, onEvent })).toMatchObject({ complete: true, entry: 21 });
  const reader = await openTestReader(to);
  expect(await countItems(reader)).toEqual({ rows: 200, distinct: 200, parts: 400 });
  expect(await contentOf(to)).toEqual(await contentOf(from));
});

test('a copy that is ended between its entries cannot be opened, instead of naming files that nobody has', async () => {
  const [from, to] = [freshPlace('folder'), freshPlace('folder')];
  await makeWarehouse(from);
  await copy(from, to);
  const store = await openTestStore(from, { graceMs: 0 });
  const replaced = await commitItems(store, 81, 90);
  await commitItems(store, 81, 90, { supersedes: [replaced.id] });
  await store.clearSuperseded();
  await store.close();
  const last = join(from, '_ledger/00000005.json');
  const away = join(from, 'away.json');
  const ended = copyWarehouse({
    from,
    to,
    effects: realEffects,
    onEvent: () => existsSync(last) && renameSync(last, away),
  });
  await expect(ended).rejects.toMatchObject({ code: 'bad-ledger' });
  expect(existsSync(join(to, '_ledger/00000004.json'))).toBe(true);
  await expect(openTestReader(to)).rejects.toMatchObject({
    code: 'bad-ledger',
    hint: expect.stringContaining('copy again'),
  });
  renameSync(away, last);
  expect(await copy(from, to)).toMatchObject({ complete: true, entry: 5 });
  const reader = await openTestReader(to);
  expect(await countItems(reader)).toMatchObject({ rows: 90, distinct: 90 });
});

test('a copy that is ended between entries that a checkpoint left out cannot be opened', async () => {
  const [from, to] = [freshPlace('folder'), freshPlace('folder')];
  const clock = clockAt(Date.now() - 3 * 86_400_000);
  await withStore(from, (opened) => commitItems(opened, 0, 9), { effects: clock });
  await copy(from, to);
  const store = await openTestStore(from, { effects: clock, graceMs: 0 });
  const replaced = await commitItems(store, 10, 19);
  await commitItems(store, 10, 19, { supersedes: [replaced.id] });
  clock.time = Date.now();
  for (let at = 4; at <= 100; at++) {
    await store.commit({ id: realEffects.freshId(), tables: {} }, draftOf({ from: 10 * at, to: 10 * at }));
  }
  await store.clearSuperseded();
  await store.close();
  const replacing = join(from, '_ledger/00000003.json');
  const onEvent = (): void => {
    if (existsSync(replacing)) renameSync(replacing, join(from, 'away.json'));
  };
  await expect(copyWarehouse({ from, to, effects: realEffects, onEvent })).rejects.toMatchObject({
    code: 'bad-ledger',
  });
  expect(existsSync(join(to, '_ledger/00000002.json'))).toBe(true);
  await expect(openTestReader(to)).rejects.toMatchObject({
    code: 'bad-ledger',
    hint: expect.stringContaining('copy again'),
  });
});

describe.each(places)(
  'a copy from a %s to a %s (skipped without versitygw and TONLAKE_DUCKDB_EXTENSIONS for buckets)',
  (one, other) => {
    const isMissing = !HAS_BUCKETS && [one, other].includes('bucket');

    test.skipIf(isMissing)('has every byte, goes on after a stop, and follows its source', async () => {
      const [from, to] = [freshPlace(one), freshPlace(other)];
      await makeWarehouse(from);
      const records = join(onDisk(from), '_jobs');
      mkdirSync(join(records, 'nightly'), { recursive: true });
      writeFileSync(join(records, 'run.lock'), 'of a process');
      writeFileSync(join(records, 'nightly/20260504T031500Z.json'), '{}');
      expect(await copy(from, to, 1)).toMatchObject({ complete: false });
      const rest = await copy(from, to);
      expect(rest).toMatchObject({ complete: true, entry: 3 });
      expect(rest.present).toBeGreaterThan(0);
      // Opening it reads no entry but those after its checkpoint.
      expect(readdirSync(join(onDisk(to), '_checkpoints'))).toContain('00000003.jsonl');
      const left = (await listAll(onDisk(to))).filter((name) => name.startsWith('_jobs/'));
      expect(left).toEqual(['_jobs/nightly/20260504T031500Z.json']);
      expect(await contentOf(to)).toEqual(await contentOf(from));
      expect(await copy(from, to)).toMatchObject({
        complete: true,
        files: 0,
        bytes: 0,
        present: rest.files + rest.present,
      });
      await addItems(from, [81, 90]);
      expect(await copy(from, to)).toMatchObject({ complete: true, files: 2, entry: 4 });
      expect(await contentOf(to)).toEqual(await contentOf(from));
    });

    test.skipIf(isMissing)('refuses damaged files, and targets that were written themselves', async () => {
      const [from, to] = [freshPlace(one), freshPlace(other)];
      await makeWarehouse(from);
      await copy(from, to);
      await addItems(to, [500, 510]);
      await expect(copy(from, to)).rejects.toMatchObject({ code: 'diverged' });
      await addItems(from, [600, 610]);
      await expect(copy(from, to)).rejects.toMatchObject({ code: 'diverged' });
      const [file = ''] = (await contentOf(from)).map(([name]) => name).filter((name) => name.includes('/600-610-'));
      const path = join(onDisk(from), file);
      const bytes = readFileSync(path);
      bytes[100] = (bytes[100] ?? 0) ^ 1;
      rmSync(path);
      writeFileSync(path, bytes);
      const fresh = freshPlace(other);
      await expect(copy(from, fresh)).rejects.toMatchObject({ code: 'damaged' });
      expect(readdirSync(onDisk(fresh))).not.toContain('tonlake.json');
    });
  },
);

test('rows of a copy in a folder are read, and a DuckDB file is refused', async () => {
  const [from, to] = [freshPlace('folder'), freshPlace('folder')];
  await makeWarehouse(from);
  await copy(from, to);
  const store = await openTestStore(to);
  expect(await countItems(store)).toEqual({ rows: 80, distinct: 80, parts: 160 });
  await store.close();
  const file = join(freshFolder(), 'w.duckdb');
  await (await openTestStore(file)).close();
  await expect(copy(file, to)).rejects.toMatchObject({ code: 'wrong-kind' });
  const coming = join(freshFolder(), 'new.duckdb');
  await expect(copy(from, coming)).rejects.toMatchObject({ code: 'wrong-kind' });
  expect(existsSync(coming)).toBe(false);
  await expect(copy(join(freshFolder(), 'none'), to)).rejects.toMatchObject({ code: 'no-warehouse' });
  await expect(copy(from, from)).rejects.toMatchObject({ code: 'diverged' });
  await expect(copy(from, join(from, 'backup'))).rejects.toThrow('cannot become a copy: it is within the source');
  await expect(copy(from, dirname(from))).rejects.toThrow('cannot become a copy: the source is within it');
});

test('an entry that names a file outside of its warehouse is refused, with and without a checkpoint', async () => {
  const from = freshPlace('folder');
  await makeWarehouse(from);
  const entry = join(from, '_ledger', '00000002.json');
  const [path = ''] = /tables[^"]*\.parquet/.exec(readFileSync(entry, 'utf8')) ?? [];
  const outside = `../${path.slice(path.lastIndexOf('/') + 1)}`;
  renameSync(join(from, path), join(from, outside));
  writeFileSync(entry, readFileSync(entry, 'utf8').replace(path, outside));
  const to = freshPlace('folder');
  await expect(copy(from, to)).rejects.toMatchObject({ code: 'bad-ledger' });
  expect(readdirSync(join(to, '..'))).not.toContain(outside.slice(3));
  const line = readFileSync(entry, 'utf8').trim();
  const text = `${JSON.stringify({ format: 1, number: 2, files: 'known' })}\n${line}`;
  const checkpoint = (lines: string) => Buffer.from(`${createHash('sha256').update(lines).digest('hex')}\n${lines}`);
  expect(parseCheckpoint(checkpoint(text), 'known')).toBeUndefined();
  expect(parseCheckpoint(checkpoint(text.replace(outside, path)), 'known')).toMatchObject({ number: 2 });
});
