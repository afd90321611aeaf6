import type { ColumnDef } from '../declare/column.ts';
import { kinds } from '../declare/kind.ts';
import type { Bounds } from './statistics.ts';
import { ThriftWriter } from './thrift.ts';

// The headers of Parquet's pages and the footer of its files, as parquet.thrift of the format's repository has them.

/** Numbers of the format's encodings. */
export const encodings = { plain: 0, rle: 3, deltaLength: 6, dictionary: 8 } as const;
const repetition = { optional: 1 } as const;
const page = { data: 0, dictionary: 2 } as const;
/** Numbers of the format's codecs. */
export const codecs = { none: 0, zstd: 6 } as const;

/** What the footer tells of one column of a row group. */
export interface ColumnChunk {
  /** Where its first page begins. */
  readonly offset: number;
  /** Where its data page begins, when a dictionary page comes before it. */
  readonly dataOffset: number;
  /** How the values of the data page are encoded. */
  readonly encoding: number;
  readonly codec: number;
  /** Bytes with page headers. */
  readonly bytes: number;
  /** Bytes with page headers before compression. */
  readonly rawBytes: number;
  readonly nulls: number;
  /** Undefined where no statistics are kept, there is no value, or they would be too long. */
  readonly bounds: Bounds | undefined;
}

export interface RowGroup {
  readonly rows: number;
  readonly chunks: readonly ColumnChunk[];
}

/** Nothing of it stays between two calls, so one for all files. */
const out = new ThriftWriter();

/** Header of the data page of a row group's column; `size` and `rawSize` are its bytes with and without compression. */
export function encodeDataHeader(rows: number, size: number, rawSize: number, encoding: number): Uint8Array {
  encodeSizes(page.data, size, rawSize);
  out.begin(5);
  out.i32(1, rows);
  out.i32(2, encoding);
  out.i32(3, encodings.rle);
  out.i32(4, encodings.rle);
  out.end();
  out.end();
  return out.take();
}

/** Header of the page of a column's distinct values. */
export function encodeDictionaryHeader(values: number, size: number, rawSize: number): Uint8Array {
  encodeSizes(page.dictionary, size, rawSize);
  out.begin(7);
  out.i32(1, values);
  out.i32(2, encodings.plain);
  out.end();
  out.end();
  return out.take();
}

function encodeSizes(kind: number, size: number, rawSize: number): void {
  out.begin();
  out.i32(1, kind);
  out.i32(2, rawSize);
  out.i32(3, size);
}

export function encodeFooter(columns: readonly ColumnDef[], groups: readonly RowGroup[]): Uint8Array {
  out.begin();
  out.i32(1, 1);
  out.list(2, 'struct', columns.length + 1);
  out.begin();
  out.text(4, 'root');
  out.i32(5, columns.length);
  out.end();
  for (const column of columns) encodeColumn(column);
  out.i64(
    3,
    groups.reduce((sum, group) => sum + group.rows, 0),
  );
  out.list(4, 'struct', groups.length);
  for (const group of groups) encodeGroup(columns, group);
  out.text(6, 'tonlake');
  // Statistics are in the order of each column's type; without this a reader may not use them.
  out.list(7, 'struct', columns.length);
  for (const _ of columns) {
    out.begin();
    out.empty(1);
    out.end();
  }
  out.end();
  return out.take();
}

function encodeGroup(columns: readonly ColumnDef[], { rows, chunks }: RowGroup): void {
  out.begin();
  out.list(1, 'struct', chunks.length);
  for (const [at, chunk] of chunks.entries()) encodeChunk(columns[at] as ColumnDef, chunk, rows);
  out.i64(
    2,
    chunks.reduce((sum, { rawBytes }) => sum + rawBytes, 0),
  );
  out.i64(3, rows);
  out.end();
}

function encodeChunk(column: ColumnDef, chunk: ColumnChunk, rows: number): void {
  const hasDictionary = chunk.dataOffset > chunk.offset;
  out.begin();
  out.i64(2, chunk.offset);
  out.begin(3);
  out.i32(1, parquetType(column).physical);
  // Levels are in RLE, dictionary pages in PLAIN.
  const used = new Set([encodings.rle, chunk.encoding, ...(hasDictionary ? [encodings.plain] : [])]);
  out.list(2, 'i32', used.size);
  for (const encoding of used) out.integer(encoding);
  out.list(3, 'binary', 1);
  out.element(column.name);
  out.i32(4, chunk.codec);
  out.i64(5, rows);
  out.i64(6, chunk.rawBytes);
  out.i64(7, chunk.bytes);
  out.i64(9, chunk.dataOffset);
  if (hasDictionary) out.i64(11, chunk.offset);
  if (chunk.codec !== codecs.none) {
    out.begin(12);
    out.i64(3, chunk.nulls);
    if (chunk.bounds !== undefined) {
      out.binary(5, chunk.bounds.max);
      out.binary(6, chunk.bounds.min);
    }
    out.end();
  }
  out.end();
  out.end();
}

function encodeColumn(column: ColumnDef): void {
  const { physical, logical } = parquetType(column);
  out.begin();
  out.i32(1, physical);
  if (logical?.kind === 'decimal') out.i32(2, 16);
  out.i32(3, repetition.optional);
  out.text(4, column.name);
  switch (logical?.kind) {
    case 'string':
      out.i32(6, 0);
      out.begin(10);
      out.empty(1);
      out.end();
      break;
    case 'decimal':
      out.i32(6, 5);
      out.i32(7, 0);
      out.i32(8, logical.precision);
      out.begin(10);
      out.begin(5);
      out.i32(1, 0);
      out.i32(2, logical.precision);
      out.end();
      out.end();
      break;
    case 'date':
      out.i32(6, 6);
      out.begin(10);
      out.empty(6);
      out.end();
      break;
    case 'timestamp':
      // No converted type: the old TIMESTAMP_MICROS would mean "adjusted to UTC".
      out.begin(10);
      out.begin(8);
      out.bool(1, false);
      out.begin(2);
      out.empty(2);
      out.end();
      out.end();
      out.end();
      break;
    case undefined:
      break;
  }
  out.end();
}

type Logical =
  | { readonly kind: 'string' | 'date' | 'timestamp' }
  | { readonly kind: 'decimal'; readonly precision: number };

interface ParquetType {
  /** BOOLEAN 0, INT32 1, INT64 2, BYTE_ARRAY 6, FIXED_LEN_BYTE_ARRAY 7. */
  readonly physical: number;
  readonly logical: Logical | undefined;
}

function parquetType(column: ColumnDef): ParquetType {
  const { physical, sql } = kinds[column.kind];
  switch (physical) {
    case 'utf8':
      return { physical: 6, logical: { kind: 'string' } };
    case 'binary':
      return { physical: 6, logical: undefined };
    case 'bool':
      return { physical: 0, logical: undefined };
    case 'int32':
      return { physical: 1, logical: sql === 'DATE' ? { kind: 'date' } : undefined };
    case 'int64':
      return { physical: 2, logical: sql === 'TIMESTAMP' ? { kind: 'timestamp' } : undefined };
    case 'decimal128': {
      const precision = /^DECIMAL\((\d+),0\)$/.exec(sql)?.[1];
      return { physical: 7, logical: { kind: 'decimal', precision: Number(precision ?? 38) } };
    }
  }
}
