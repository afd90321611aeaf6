import { cpSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { text } from '../../src/declare/column.ts';
import { kinds } from '../../src/declare/kind.ts';
import { type TableDef, table } from '../../src/declare/table.ts';
import { filterBytes } from '../../src/parquet/column-chunk.ts';
import { FileWriter } from '../../src/parquet/parquet-writer.ts';
import { type Compress, loadZstd } from '../../src/parquet/zstd.ts';
import { Database } from '../../src/sql/database.ts';
import { remoteAccess } from '../../src/warehouse/bucket-store/bucket-backend.ts';
import { readFiles } from '../../src/warehouse/relations/table-relation.ts';
import { HAS_BUCKETS, startRelayedS3 } from '../objects/s3-server.ts';
import { freshFolder } from '../scratch.ts';
import { anyValue, makeBatch, type Value } from '../warehouse/batches.ts';
import { everything } from '../warehouse/tables.ts';
import { copied } from './copied.ts';
import { specified } from './specified-xxhash64.ts';
import { number, type ReadFile, readParquet, readStruct } from './thrift-reader.ts';

/** The table of every type, with a filter wherever there can be one. */
const filtered: TableDef = {
  ...everything,
  columns: everything.columns.map((column) => ({ ...column, bloomFilter: true as const })),
};
const names = filtered.columns.map(({ name }) => name);

let folder: string;
let database: Database;
let zstd: Compress;
let files = 0;

beforeAll(async () => {
  folder = freshFolder();
  database = await Database.open();
  zstd = (await loadZstd()).compress;
});

afterAll(() => database.close());

function write(batches: readonly (readonly (readonly Value[])[])[]): string {
  const path = join(folder, `${files++}.parquet`);
  const writer = new FileWriter(path, filtered, zstd);
  for (const rows of batches) writer.write(makeBatch(filtered, rows));
  writer.finish();
  return path;
}

/** The bytes that are hashed: the value in PLAIN encoding, without a length. */
function plainBytes(value: Value, physical: string): Buffer {
  if (typeof value !== 'bigint') return Buffer.from(value as string);
  const width = physical === 'int32' ? 4 : physical === 'int64' ? 8 : 16;
  const hex = BigInt.asUintN(width * 8, value)
    .toString(16)
    .padStart(width * 2, '0');
  const bytes = Buffer.from(hex, 'hex');
  return width === 16 ? bytes : bytes.reverse();
}

const SALTS = [0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31];

/** Asks a filter as the format's description says; undefined where the column has none. */
function mayHold({ chunks, bytes }: ReadFile, name: string, value: Value): boolean | undefined {
  const meta = chunks.find((chunk) => chunk.name === name)?.meta;
  if (meta === undefined || !meta.has(14)) return undefined;
  const { fields, end } = readStruct(bytes, number(meta, 14));
  const size = number(fields, 1);
  expect(number(meta, 15)).toBe(end - number(meta, 14) + size);
  const hash = specified(plainBytes(value, kinds[filtered.columns[names.indexOf(name)]?.kind ?? 'text'].physical));
  const block = Number(((hash >> 32n) * BigInt(size / 32)) >> 32n);
  return SALTS.every((salt, word) => {
    const bit = BigInt.asUintN(32, (hash & 0xffffffffn) * BigInt(salt)) >> 27n;
    return ((bytes.readUInt32LE(end + block * 32 + word * 4) >>> Number(bit)) & 1) === 1;
  });
}

const anyRow = fc.tuple(...filtered.columns.map(anyValue));
const edges: readonly string[] = ['', 'é', '\0', '👍'.repeat(70_000), ...'abcdefghij'];

test('no value of a file is denied, also where it was copied: empty, long, not ASCII, repeated, beside nulls, of every type', () => {
  const withEdge = fc
    .tuple(anyRow, fc.constantFrom(...edges))
    .map(([row, text]) => row.with(names.indexOf('label'), text));
  const batches = fc.array(fc.array(fc.oneof(anyRow, withEdge), { minLength: 1, maxLength: 40 }), {
    minLength: 1,
    maxLength: 3,
  });
  const asCopied = (all: readonly (readonly (readonly Value[])[])[]) => {
    const paths = all.map((rows) => write([rows]));
    return copied(filtered, paths);
  };
  fc.assert(
    fc.property(batches, fc.boolean(), (all, isCopied) => {
      const file = readParquet(isCopied ? asCopied(all) : write(all));
      for (const [at, name] of names.entries()) {
        const present = all.flat().flatMap((row) => row[at] ?? []);
        const denied = present.filter((value) => mayHold(file, name, value) === false);
        expect([name, denied]).toEqual([name, []]);
        const isFiltered = new Set(present.map(String)).size > 1 && !['flag', 'maybe', 'body', 'init'].includes(name);
        if (isFiltered) expect([name, mayHold(file, name, present[0] ?? null)]).toEqual([name, true]);
      }
    }),
    { numRuns: 60 },
  );
});

test('DuckDB finds the filters, and leaves out what is not there for all but about one in a hundred', async () => {
  const [row = []] = fc.sample(anyRow, { numRuns: 1, seed: 3 });
  const name = names.indexOf('name');
  const rows = Array.from({ length: 5000 }, (_, at) => row.with(name, `value ${at}`));
  const path = write([rows.slice(0, 2000), rows.slice(2000)]);
  const probe = async (value: string) => {
    const { rows: found } = await database.query(
      `SELECT bloom_filter_excludes FROM parquet_bloom_probe('${path}', 'name', '${value}')`,
    );
    return found.map(([excludes]) => excludes);
  };
  for (const at of [0, 1, 1999, 2000, 4999]) expect(await probe(`value ${at}`)).toEqual([false]);
  const file = readParquet(path);
  const wrong = Array.from({ length: 5000 }, (_, at) => mayHold(file, 'name', `absent ${at}`)).filter(Boolean).length;
  expect(wrong / 5000).toBeLessThan(0.02);
  let excluded = 0;
  for (let at = 0; at < 100; at++) if ((await probe(`absent ${at}`))[0] === true) excluded++;
  expect(excluded).toBeGreaterThan(90);
  for (const [value, count] of [
    ['value 4999', '1'],
    ['absent', '0'],
  ]) {
    const { rows: found } = await database.query(`SELECT count(*) FROM ${readFiles([path])} WHERE name = '${value}'`);
    expect(String(found[0]?.[0])).toBe(count);
  }
});

test('bytes have no filter, by which DuckDB would not find them', async () => {
  const [row = []] = fc.sample(anyRow, { numRuns: 1, seed: 3 });
  const body = names.indexOf('body');
  const rows = Array.from({ length: 300 }, (_, at) => row.with(body, Buffer.from([0xff, 0xfe, at % 3])));
  const path = write([rows]);
  const { rows: found } = await database.query(`SELECT count(*) FROM '${path}' WHERE body = '\\xff\\xfe\\x01'::BLOB`);
  expect(found).toEqual([[100n]]);
  expect(mayHold(readParquet(path), 'body', '')).toBeUndefined();
});

test('the reference has the known hashes of known texts', () => {
  const known = { '': 0xef46db3751d8e999n, a: 0xd24ec4f1a98c6e5bn, abc: 0x44bc2cf5ad770999n };
  for (const [value, hash] of Object.entries(known))
    expect([value, specified(Buffer.from(value))]).toEqual([value, hash]);
});

test('values of every length are in the filter, also where its page is not aligned', () => {
  const [row = []] = fc.sample(anyRow, { numRuns: 1, seed: 3 });
  const name = names.indexOf('name');
  const texts = Array.from({ length: 200 }, (_, length) => 'hash'.repeat(50).slice(0, length));
  const file = readParquet(write([texts.map((value) => row.with(name, value))]));
  expect(texts.filter((value) => mayHold(file, 'name', value) !== true)).toEqual([]);
});

test('a dictionary that did not pay any more has its values in the filter, too', () => {
  const [row = []] = fc.sample(anyRow, { numRuns: 1, seed: 3 });
  const name = names.indexOf('name');
  const repeated = Array.from({ length: 2000 }, (_, at) => row.with(name, `early ${at % 9}`));
  const distinct = Array.from({ length: 2000 }, (_, at) => row.with(name, `late ${at}`));
  const file = readParquet(write([repeated, distinct]));
  for (const value of ['early 0', 'early 8', 'late 0', 'late 1999']) {
    expect([value, mayHold(file, 'name', value)]).toEqual([value, true]);
  }
  expect(mayHold(file, 'count', row[names.indexOf('count')] ?? null)).toBe(undefined);
});

test('the size of a filter is a power of two that keeps one in a hundred', () => {
  expect([2, 26, 27, 106_496, 122_880].map(filterBytes)).toEqual([32, 32, 64, 131_072, 262_144]);
});

/** One column with a filter, and many whose bounds make the footer long. */
const wide = table('wide', {
  grain: 'one row of a test',
  rows: { kind: 'records', path: '/rows' },
  key: ['hash'],
  sort: ['hash'],
  columns: {
    hash: text('/hash', 'text').bloomFilter(),
    ...Object.fromEntries(Array.from({ length: 45 }, (_, at) => [`c${at}`, text(`/c${at}`, 'text')])),
  },
});
const narrow: TableDef = { ...wide, columns: wide.columns.slice(0, 1) };

/** Rows in batches of a hundred. */
function writeRows(table: TableDef, count: number, padding: string): string {
  const path = join(folder, `${files++}.parquet`);
  const writer = new FileWriter(path, table, zstd);
  const rowOf = (at: number): readonly Value[] => table.columns.map(({ name }) => `${name}-${at}-${padding}`);
  for (let at = 0; at < count; at += 100)
    writer.write(
      makeBatch(
        table,
        Array.from({ length: 100 }, (_, n) => rowOf(at + n)),
      ),
    );
  writer.finish();
  return path;
}

test('the filters of the last row group end where the footer begins, those of others follow their pages, also in copies', () => {
  // A row group has at most 32 MB.
  const padding = 'x'.repeat(60_000);
  const written = writeRows(narrow, 700, padding);
  for (const path of [written, copied(narrow, [written, written])]) {
    const { chunks, bytes } = readParquet(path);
    const filters = chunks.map(({ meta }) => ({ from: number(meta, 14), to: number(meta, 14) + number(meta, 15) }));
    expect(filters.length).toBeGreaterThan(1);
    expect(filters.at(-1)?.to).toBe(bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8));
    const pages = chunks.map(({ meta }) => ({ from: number(meta, 11) || number(meta, 9), bytes: number(meta, 7) }));
    for (const [at, { from, to }] of filters.slice(0, -1).entries()) {
      expect(from).toBe((pages[at]?.from ?? 0) + (pages[at]?.bytes ?? 0));
      expect(to).toBe(pages[at + 1]?.from);
    }
    for (const at of [0, 250, 699]) expect(mayHoldAnywhere(path, `hash-${at}-${padding}`)).toBe(true);
    expect(['a', 'b', 'c', 'd'].filter((value) => mayHoldAnywhere(path, value)).length).toBeLessThan(4);
  }
});

/** True if the filter of some row group does not deny a value. */
function mayHoldAnywhere(path: string, value: Value): boolean {
  const file = readParquet(path);
  return file.chunks.some((chunk) => mayHold({ ...file, chunks: [chunk] }, 'hash', value) !== false);
}

test.skipIf(!HAS_BUCKETS)(
  'DuckDB learns by one request that a small file in an object store lacks a value',
  async () => {
    const { server, relay } = await startRelayedS3();
    const file = join(server.folder, 'lake/small/a.parquet');
    cpSync(writeRows(wide, 100, 'x'.repeat(60)), file);
    // DuckDB reads parts of a file again that was modified just now.
    utimesSync(file, 1_700_000_000, 1_700_000_000);
    const remote = await Database.open();
    await remoteAccess('s3://lake/small')(remote);
    const countOf = async (value: string) => {
      relay.requests.length = 0;
      const { rows } = await remote.query(
        `SELECT count(*) FROM read_parquet('s3://lake/small/a.parquet') WHERE hash = '${value}'`,
      );
      return [String(rows[0]?.[0]), relay.requests.filter(({ method }) => method === 'GET').length];
    };
    // Within the bounds of the file.
    expect(await countOf('hash-5-absent')).toEqual(['0', 1]);
    expect((await countOf(`hash-55-${'x'.repeat(60)}`))[0]).toBe('1');
    remote.close();
  },
);
