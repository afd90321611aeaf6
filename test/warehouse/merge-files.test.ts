import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { sha256Of } from '../../src/core/sha256.ts';
import { FileWriter } from '../../src/parquet/parquet-writer.ts';
import { loadZstd } from '../../src/parquet/zstd.ts';
import { Database } from '../../src/sql/database.ts';
import { mergeFiles, planCuts } from '../../src/warehouse/compaction/merge-files.ts';
import { storedColumns } from '../../src/warehouse/file-layout.ts';
import { readFiles } from '../../src/warehouse/relations/table-relation.ts';
import type { TableFile } from '../../src/warehouse/store.ts';
import { type Fields, list, readParquet } from '../parquet/thrift-reader.ts';
import { freshFolder } from '../scratch.ts';
import { makeBatchOf } from './batches.ts';
import { watchFlushes } from './filesystem.ts';
import { itemRows, items } from './tables.ts';

const database = await Database.open();
const { compress: zstd } = await loadZstd();
const filtered = {
  ...items,
  columns: items.columns.map((column) => (column.name === 'hash' ? { ...column, bloomFilter: true as const } : column)),
};

afterAll(() => database.close());

/** Files of items, each from a number to another: `0:2999 3000:5999`. */
async function makeFiles(spans: string) {
  const warehouse = freshFolder();
  const files: TableFile[] = [];
  for (const [at, span] of spans.split(' ').entries()) {
    const [from = 0, to = 0] = span.split(':').map(Number);
    const path = `tables/items/${at}.parquet`;
    await mkdir(dirname(join(warehouse, path)), { recursive: true });
    const writer = new FileWriter(join(warehouse, path), filtered, zstd, storedColumns(filtered));
    const rows = itemRows(from, to).map((row) => ({ ...row, hash: `${at}-${String(row['hash'])}` }));
    writer.write(makeBatchOf(filtered, rows), true);
    writer.finish();
    files.push(describeFile(warehouse, path, rows.length));
  }
  return { warehouse, files };
}

function describeFile(warehouse: string, path: string, rows: number): TableFile {
  const bytes = readFileSync(join(warehouse, path));
  return { path, rows, bytes: bytes.length, bounds: {}, sha256: sha256Of(bytes) };
}

async function merge({ warehouse, files }: Awaited<ReturnType<typeof makeFiles>>) {
  const path = join(warehouse, 'merged.parquet');
  await mergeFiles({ database, warehouse, table: filtered, files, folder: warehouse, path });
  const { rows } = await database.query(`SELECT lt FROM ${readFiles([path])}`);
  const order = rows.map(([lt]) => Number(lt) / 1000);
  const { groups, chunks } = readParquet(path);
  for (const { name, columnIndex, offsetIndex, meta } of chunks) {
    expect([name, columnIndex !== undefined, offsetIndex !== undefined]).toEqual([name, true, true]);
    expect([name, meta.has(14)]).toEqual([name, name === 'hash']);
  }
  return { order, groups: groups.length, isSorted: list<Fields>(groups[0] as Fields, 4).length > 0 };
}

const count = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);

test('rows that follow each other are copied, and are sorted', async () => {
  const merged = await merge(await makeFiles('0:2999 3000:5999 6000:8999'));
  expect(merged).toEqual({ order: count(0, 8999), groups: 1, isSorted: true });
});

test('rows that overlap a little keep the order of their files, and do not claim to be sorted', async () => {
  const merged = await merge(await makeFiles('0:3000 2990:5999'));
  expect(merged).toEqual({ order: [...count(0, 3000), ...count(2990, 5999)], groups: 1, isSorted: false });
});

test('rows that overlap much, or come in another order, are sorted', async () => {
  const overlapping = await merge(await makeFiles('0:3000 2000:5999'));
  const expected = [...count(0, 3000), ...count(2000, 5999)].sort((a, b) => a - b);
  expect(overlapping).toEqual({ order: expected, groups: 1, isSorted: true });
  const reversed = await merge(await makeFiles('3000:5999 0:2999'));
  expect(reversed).toEqual({ order: count(0, 5999), groups: 1, isSorted: true });
  const inside = await merge(await makeFiles('0:5999 5000:5999'));
  expect(inside.order).toEqual([...count(0, 5999), ...count(5000, 5999)].sort((a, b) => a - b));
});

test('tiny files, and those of other writers, are encoded anew between the others', async () => {
  const made = await makeFiles('0:2999 3000:3099 3100:3199 3200:6199 6200:9199');
  const { warehouse, files } = made;
  const [last] = files.slice(-1) as [TableFile];
  const rewritten = 'tables/items/other.parquet';
  const source = readFiles([join(warehouse, last.path)]);
  await database.run(`COPY (FROM ${source}) TO '${join(warehouse, rewritten)}' (FORMAT parquet, COMPRESSION zstd)`);
  const others = files.with(-1, describeFile(warehouse, rewritten, last.rows));
  expect(await merge({ warehouse, files: others })).toEqual({ order: count(0, 9199), groups: 1, isSorted: true });
});

const WAYS = [
  ['copied', '0:2999 3000:5999'],
  ['sorted', '3000:5999 0:2999'],
] as const;

test.each(WAYS)('rows that are %s are on the disk when they are merged', async (_, spans) => {
  const made = await makeFiles(spans);
  const isFlushed = await watchFlushes(async () => void (await merge(made)));
  expect(isFlushed(join(made.warehouse, 'merged.parquet'))).toBe(true);
});

test.each(WAYS)('a flipped byte is found in a file that would be %s', async (_, spans) => {
  const made = await makeFiles(spans);
  const path = join(made.warehouse, made.files[1]?.path ?? '');
  const bytes = readFileSync(path);
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
  await writeFile(path, bytes);
  await expect(merge(made)).rejects.toMatchObject({ code: 'damaged' });
});

test('large files are cut into pieces of about the same size, at ascending values', () => {
  const file = (from: bigint, to: bigint, bytes: number) => ({ path: '', from, to, bytes });
  expect(planCuts([file(0n, 100n, 1000), file(101n, 200n, 1000)])).toEqual([]);
  expect(planCuts([file(0n, 100n, 64 * 2 ** 20)])).toEqual([12n, 25n, 37n, 50n, 62n, 75n, 87n]);
  const many = Array.from({ length: 100 }, (_, at) => file(BigInt(at * 10), BigInt(at * 10 + 12), 2 ** 20));
  const cuts = planCuts(many.toReversed());
  expect(cuts.length).toBe(12);
  expect(cuts).toEqual([...cuts].sort((a, b) => Number(a - b)));
  expect(planCuts(Array.from({ length: 9 }, () => file(5n, 5n, 8 * 2 ** 20)))).toEqual([]);
});
