import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { kinds } from '../../src/declare/kind.ts';
import type { Batch } from '../../src/decode/batch.ts';
import { encodeColumnIndex } from '../../src/parquet/page-index.ts';
import { FileWriter } from '../../src/parquet/parquet-writer.ts';
import { truncateBounds } from '../../src/parquet/statistics.ts';
import { loadZstd } from '../../src/parquet/zstd.ts';
import { freshFolder } from '../scratch.ts';
import { anyValue, makeBatch, type Value } from '../warehouse/batches.ts';
import { everything } from '../warehouse/tables.ts';
import { copied } from './copied.ts';
import { type Fields, list, number, type ReadChunk, readParquet, readStruct, struct } from './thrift-reader.ts';

let files = 0;

const folder = freshFolder();
const zstd = (await loadZstd()).compress;

function write(batches: readonly (readonly (readonly Value[])[])[], isSorted?: boolean): string {
  return writeBatches(
    batches.map((rows) => makeBatch(everything, rows)),
    isSorted,
  );
}

function writeBatches(batches: readonly Batch[], isSorted?: boolean): string {
  const path = join(folder, `${files++}.parquet`);
  const writer = new FileWriter(path, everything, zstd);
  for (const batch of batches) writer.write(batch, isSorted);
  writer.finish();
  return path;
}

/** A value in the order of its type, and as the index holds it. */
function fromIndex(name: string, bytes: Buffer): Value {
  const { physical } = kindOf(name);
  if (physical === 'bool') return bytes[0] === 1;
  if (physical === 'int32') return BigInt(bytes.readInt32LE());
  if (physical === 'int64') return bytes.readBigInt64LE();
  if (physical === 'decimal128') return BigInt.asIntN(128, BigInt(`0x${bytes.toString('hex')}`));
  return bytes;
}

function kindOf(name: string) {
  return kinds[everything.columns.find((column) => column.name === name)?.kind ?? 'text'];
}

function compare(a: Value, b: Value): number {
  if (typeof a === 'bigint' && typeof b === 'bigint') return a < b ? -1 : a > b ? 1 : 0;
  if (typeof a === 'boolean') return Number(a) - Number(b);
  return Buffer.compare(Buffer.from(a as string), Buffer.from(b as string));
}

/** Holds the index of a column against the rows of its row group, page by page. */
function checkIndex(chunk: ReadChunk, rows: readonly (readonly Value[])[], file: Buffer): void {
  const { name, columnIndex, offsetIndex } = chunk;
  if (columnIndex === undefined || offsetIndex === undefined) throw new Error(`${name} has no index`);
  const column = everything.columns.findIndex((own) => own.name === name);
  const places = list<Fields>(offsetIndex, 1);
  const starts = places.map((place) => number(place, 3));
  expect(starts[0]).toBe(0);
  const [nullPages, mins, maxs] = [
    list<boolean>(columnIndex, 1),
    list<Buffer>(columnIndex, 2),
    list<Buffer>(columnIndex, 3),
  ];
  const nullCounts = list<bigint>(columnIndex, 5);
  expect([nullPages, mins, maxs, nullCounts].map(({ length }) => length)).toEqual(Array(4).fill(places.length));
  let next = number(chunk.meta, 9);
  for (const [page, place] of places.entries()) {
    const values = rows.slice(starts[page], starts[page + 1]).map((row) => row[column] ?? null);
    const present = values.filter((value) => value !== null);
    // Pages stand behind each other, each with a header of as many rows and bytes as the index tells.
    const { fields, end } = readStruct(file, number(place, 1));
    expect(number(place, 1)).toBe(next);
    next += number(place, 2);
    expect([number(fields, 1), end + number(fields, 3), number(struct(fields, 5), 1)]).toEqual([
      0,
      next,
      values.length,
    ]);
    expect([name, page, Number(nullCounts[page])]).toEqual([name, page, values.length - present.length]);
    expect(nullPages[page]).toBe(present.length === 0);
    if (present.length === 0) continue;
    const [min, max] = [mins[page], maxs[page]].map((bytes) => fromIndex(name, bytes ?? Buffer.alloc(0)));
    for (const value of present) {
      if (compare(min ?? null, value) > 0 || compare(max ?? null, value) < 0) {
        throw new Error(`page ${page} of ${name} holds ${value}, outside of ${min} to ${max}`);
      }
    }
  }
  expect(next).toBe(number(chunk.meta, 9) + number(chunk.meta, 7) - dictionaryBytes(chunk));
  checkOrder(chunk);
}

function dictionaryBytes({ meta }: ReadChunk): number {
  return meta.has(11) ? number(meta, 9) - number(meta, 11) : 0;
}

/** What the index says of the order of the pages has to hold for the bounds that it has. */
function checkOrder({ name, columnIndex }: ReadChunk): void {
  const index = columnIndex as Fields;
  const isNull = list<boolean>(index, 1);
  const steps = [2, 3].flatMap((field) => {
    const bounds = list<Buffer>(index, field).filter((_, page) => !isNull[page]);
    return bounds.slice(1).map((own, at) => compare(fromIndex(name, bounds[at] as Buffer), fromIndex(name, own)));
  });
  const order = steps.every((step) => step <= 0) ? 1 : steps.every((step) => step >= 0) ? 2 : 0;
  expect([name, number(index, 4)]).toEqual([name, order]);
}

function checkFile(path: string, rows: readonly (readonly Value[])[]): void {
  const { chunks, bytes, groups } = readParquet(path);
  let from = 0;
  for (const [group, fields] of groups.entries()) {
    const own = rows.slice(from, from + number(fields, 3));
    from += number(fields, 3);
    for (const chunk of chunks.filter((one) => one.group === group)) checkIndex(chunk, own, bytes);
  }
  expect(from).toBe(rows.length);
}

const anyRow = fc.tuple(...everything.columns.map(anyValue));
const longText = fc.string({ unit: 'binary', minLength: 60, maxLength: 300 });
/** Rows whose texts and bytes are too long for the index, with the greatest characters and bytes in them. */
const longRow = fc
  .tuple(
    anyRow,
    fc.oneof(longText, fc.constantFrom('\u{10ffff}'.repeat(90), `${'a'.repeat(71)}\ud7ff${'b'.repeat(9)}`)),
  )
  .map(([row, text]) =>
    row.map((value, at) => {
      const { physical } = kinds[everything.columns[at]?.kind ?? 'text'];
      if (physical === 'utf8') return text;
      return physical === 'binary' ? Buffer.alloc(200, 0xff) : value;
    }),
  );

test('bounds, nulls and order of every page hold for its rows, whatever they are', () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.oneof(anyRow, longRow), { maxLength: 20 }), { maxLength: 6 }), (batches) => {
      checkFile(write(batches), batches.flat());
    }),
    { numRuns: 40 },
  );
});

test('the same holds for pages that were copied from files of one row group each', () => {
  const lots = fc.array(fc.array(fc.oneof(anyRow, longRow), { minLength: 1, maxLength: 20 }), {
    minLength: 1,
    maxLength: 5,
  });
  fc.assert(
    fc.property(lots, (all) => {
      const path = copied(
        everything,
        all.map((rows) => write([rows])),
      );
      checkFile(path, all.flat());
      expect(readParquet(path).groups).toHaveLength(1);
    }),
    { numRuns: 40 },
  );
});

test('large row groups stay as they are, small ones become one', () => {
  const narrow = { ...everything, columns: everything.columns.filter(({ name }) => name === 'id' || name === 'count') };
  const [row = []] = fc.sample(fc.tuple(...narrow.columns.map(anyValue)), { numRuns: 1, seed: 3 });
  const sources = [9000, 9000, 3000, 2000].map((size, at) => {
    const path = join(folder, `${files++}.parquet`);
    const writer = new FileWriter(path, narrow, zstd);
    const rows = Array.from({ length: size }, (_, n) => row.with(0, BigInt(at * 100_000 + n)));
    writer.write(makeBatch(narrow, rows), true);
    writer.finish();
    return path;
  });
  const { groups, bytes } = readParquet(copied(narrow, sources, true));
  expect(groups.map((group) => [number(group, 3), list(group, 4).length])).toEqual([
    [9000, 1],
    [9000, 1],
    [5000, 1],
  ]);
  const first = readParquet(sources[0] ?? '');
  const ends = first.chunks.map(({ meta }) => number(meta, meta.has(11) ? 11 : 9) + number(meta, 7));
  expect(bytes.subarray(0, Math.max(...ends)).equals(first.bytes.subarray(0, Math.max(...ends)))).toBe(true);
});

test('copied rows are said to be sorted only if all of them are', () => {
  const rows = fc.sample(anyRow, { numRuns: 4, seed: 8 });
  const sorted = write([rows], true);
  const isSorted = (paths: readonly string[], goesOn: boolean) =>
    list<Fields>(readParquet(copied(everything, paths, goesOn)).groups[0] as Fields, 4).length > 0;
  expect(isSorted([sorted, sorted], true)).toBe(true);
  expect(isSorted([sorted, sorted], false)).toBe(false);
  expect(isSorted([write([rows], false), sorted], true)).toBe(false);
});

test('a large batch becomes several pages of whole bytes of levels, the last row group takes the rest', () => {
  const rows = fc
    .sample(anyRow, { numRuns: 200, seed: 3 })
    .map((row, at) => row.map((value, column) => (everything.columns[column]?.nullable && at % 7 < 2 ? null : value)));
  const many = Array.from({ length: 20_501 }, (_, at) => [BigInt(at), ...(rows[(at * 31) % 200] ?? []).slice(1)]);
  checkFile(write([many]), many);
  const batch = makeBatch(everything, many);
  const { groups, chunks } = readParquet(writeBatches(Array.from({ length: 7 }, () => batch)));
  expect(groups.map((group) => number(group, 3))).toEqual([5 * 20_501, 2 * 20_501]);
  const pages = chunks
    .filter(({ name }) => name === 'id')
    .map(({ offsetIndex }) => list<Fields>(offsetIndex as Fields, 1).map((place) => number(place, 3)));
  expect(pages.map(({ length }) => length)).toEqual([10, 4]);
  expect(pages[1]).toEqual([0, 10_256, 20_501, 20_501 + 10_256]);
});

test('large values make pages of fewer rows', () => {
  const [row = []] = fc.sample(anyRow, { numRuns: 1, seed: 3 });
  const name = everything.columns.findIndex((column) => column.name === 'name');
  const rows = Array.from({ length: 400 }, (_, at) => row.with(name, `${at}`.padStart(10_000, 'x')));
  const path = write([rows]);
  checkFile(path, rows);
  const { chunks } = readParquet(path);
  const pagesOf = (column: string) =>
    list(chunks.find((chunk) => chunk.name === column)?.offsetIndex as Fields, 1).length;
  expect([pagesOf('name'), pagesOf('id')]).toEqual([4, 1]);
});

test('rows in the order of the table are said to be sorted, others are not', () => {
  const rows = fc.sample(anyRow, { numRuns: 9, seed: 8 });
  const sortingOf = (path: string) => readParquet(path).groups.map((group) => list<Fields>(group, 4));
  const [[sorting] = []] = sortingOf(write([rows], true));
  expect(everything.columns[number(sorting as Fields, 1)]?.name).toBe('id');
  expect([(sorting as Fields).get(2), (sorting as Fields).get(3)]).toEqual([false, false]);
  expect(sortingOf(write([rows], false))).toEqual([[]]);
});

describe('a bound that is too long', () => {
  const bounds = (min: Uint8Array, max: Uint8Array) => ({ min, max, isMinExact: true, isMaxExact: true });
  const of = (text: string) => Buffer.from(text);
  const cut = (physical: 'utf8' | 'binary', value: Uint8Array, most = 4) => {
    const { min, max } = truncateBounds(physical, bounds(value, value), most);
    return [Buffer.from(min).toString('hex'), Buffer.from(max).toString('hex')];
  };
  const hex = (...texts: readonly string[]) => texts.map((text) => of(text).toString('hex'));

  test('becomes a beginning below it, and the next beginning above it', () => {
    expect(cut('utf8', of('abcdefg'))).toEqual(hex('abcd', 'abce'));
    expect(cut('binary', Buffer.from('01fffffffff0', 'hex'))).toEqual(['01ffffff', '02']);
  });

  test('is cut between characters, and raised to a character', () => {
    expect(cut('utf8', of('abcпривет'))).toEqual(hex('abc', 'abd'));
    expect(cut('utf8', of('a\ud7ffbcd'))).toEqual(hex('a\ud7ff', 'a\ue000'));
    expect(cut('utf8', of('a\u{10ffff}bcd'), 5)).toEqual(hex('a\u{10ffff}', 'b'));
  });

  test('stays whole where nothing shorter is above it', () => {
    expect(cut('binary', Buffer.alloc(9, 0xff))).toEqual(['ff'.repeat(4), 'ff'.repeat(9)]);
    expect(cut('utf8', of('\u{10ffff}\u{10ffff}'))).toEqual(hex('\u{10ffff}', '\u{10ffff}\u{10ffff}'));
  });

  test('holds for every value between the bounds, and texts stay texts', () => {
    const length = fc.integer({ min: 1, max: 40 });
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 30 }), length, (text, most) => {
        const value = of(text);
        const { min, max } = truncateBounds('utf8', bounds(value, value), most);
        expect(Buffer.compare(min, value)).toBeLessThanOrEqual(0);
        expect(Buffer.compare(max, value)).toBeGreaterThanOrEqual(0);
        expect(min.length).toBeLessThanOrEqual(most);
        for (const bytes of [min, max]) new TextDecoder('utf-8', { fatal: true }).decode(bytes);
      }),
    );
  });
});

test('pages of nulls alone do not break the order of the others', () => {
  const page = (value: number | undefined) => {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32LE(value ?? 0);
    const bounds = value === undefined ? undefined : { min: bytes, max: bytes, isMinExact: true, isMaxExact: true };
    return { offset: 4, bytes: 9, firstRow: 0, nulls: value === undefined ? 1 : 0, bounds };
  };
  const orderOf = (...values: readonly (number | undefined)[]) =>
    number(readStruct(Buffer.from(encodeColumnIndex('int32', values.map(page))), 0).fields, 4);
  expect(orderOf(-5, undefined, 3, 3)).toBe(1);
  expect(orderOf(9, undefined, -1)).toBe(2);
  expect(orderOf(1, 3, 2)).toBe(0);
  expect(orderOf(undefined, undefined)).toBe(1);
});
