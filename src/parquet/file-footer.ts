import type { ColumnDef } from '../declare/column.ts';
import { codecs, encodings, pageKinds } from './page-header.ts';
import type { IndexedPage } from './page-index.ts';
import { encodeColumn, parquetType } from './parquet-schema.ts';
import type { Bounds } from './statistics.ts';
import { out } from './thrift.ts';

/** Metadata of a column chunk. */
export interface ColumnChunk {
  /** Position of the first page. */
  readonly offset: number;
  /** Position of the first data page, after the dictionary page if any. */
  readonly dataOffset: number;
  /** Number of data pages by encoding. */
  readonly encodings: ReadonlyMap<number, number>;
  readonly codec: number;
  readonly rows: number;
  /** Size with page headers, in bytes. */
  readonly bytes: number;
  /** Uncompressed size with page headers, in bytes. */
  readonly rawBytes: number;
  readonly nulls: number;
  /** Undefined without statistics or values. Inexact bounds are not written. */
  readonly bounds: Bounds | undefined;
  /** The data pages for the page index; empty for none. */
  readonly pages: readonly IndexedPage[];
  /** Place of the Bloom filter with its header. */
  readonly bloomFilter?: Place | undefined;
}

/** A part of the file. */
export interface Place {
  readonly offset: number;
  readonly bytes: number;
}

export interface RowGroup {
  readonly rows: number;
  /** Positions of the sort columns, ascending with nulls last; empty if not sorted. */
  readonly sortedBy: readonly number[];
  readonly chunks: readonly ColumnChunk[];
}

/** Places of the page index of a column chunk. */
interface IndexPlace {
  readonly columnIndex: Place;
  readonly offsetIndex: Place;
}

/** By the pages of a column chunk. */
export type Indexes = ReadonlyMap<ColumnChunk['pages'], IndexPlace>;

/** Name of the writer in the footer. */
export const WRITER = 'tonlake';

/** The beginning of the footer of every file with these columns. */
export function encodeSchema(columns: readonly ColumnDef[]): Uint8Array {
  beginFooter(columns);
  out.end();
  return out.take().subarray(0, -1);
}

function beginFooter(columns: readonly ColumnDef[]): void {
  out.begin();
  out.i32(1, 1);
  out.list(2, 'struct', columns.length + 1);
  out.begin();
  out.text(4, 'root');
  out.i32(5, columns.length);
  out.end();
  for (const column of columns) encodeColumn(column);
}

export function encodeFooter(
  columns: readonly ColumnDef[],
  groups: readonly RowGroup[],
  indexes: Indexes = new Map(),
): Uint8Array {
  beginFooter(columns);
  out.i64(
    3,
    groups.reduce((sum, group) => sum + group.rows, 0),
  );
  out.list(4, 'struct', groups.length);
  for (const group of groups) encodeGroup(columns, group, indexes);
  out.text(6, WRITER);
  // Column orders: without them readers ignore the statistics.
  out.list(7, 'struct', columns.length);
  for (const _ of columns) {
    out.begin();
    out.empty(1);
    out.end();
  }
  out.end();
  return out.take();
}

function encodeGroup(columns: readonly ColumnDef[], { rows, chunks, sortedBy }: RowGroup, indexes: Indexes): void {
  out.begin();
  out.list(1, 'struct', chunks.length);
  for (const [at, chunk] of chunks.entries()) encodeChunk(columns[at] as ColumnDef, chunk, indexes.get(chunk.pages));
  out.i64(
    2,
    chunks.reduce((sum, { rawBytes }) => sum + rawBytes, 0),
  );
  out.i64(3, rows);
  if (sortedBy.length > 0) {
    out.list(4, 'struct', sortedBy.length);
    for (const column of sortedBy) encodeSorting(column);
  }
  out.end();
}

function encodeSorting(column: number): void {
  out.begin();
  out.i32(1, column);
  out.bool(2, false);
  out.bool(3, false);
  out.end();
}

function encodeChunk(column: ColumnDef, chunk: ColumnChunk, index: IndexPlace | undefined): void {
  const hasDictionary = chunk.dataOffset > chunk.offset;
  out.begin();
  out.i64(2, chunk.offset);
  out.begin(3);
  out.i32(1, parquetType(column));
  // Levels are RLE, dictionary pages PLAIN.
  const used = new Set([encodings.rle, ...chunk.encodings.keys(), ...(hasDictionary ? [encodings.plain] : [])]);
  out.list(2, 'i32', used.size);
  for (const encoding of used) out.integer(encoding);
  out.list(3, 'binary', 1);
  out.element(column.name);
  out.i32(4, chunk.codec);
  out.i64(5, chunk.rows);
  out.i64(6, chunk.rawBytes);
  out.i64(7, chunk.bytes);
  out.i64(9, chunk.dataOffset);
  if (hasDictionary) out.i64(11, chunk.offset);
  if (chunk.codec !== codecs.none) {
    out.begin(12);
    out.i64(3, chunk.nulls);
    if (chunk.bounds?.isMinExact === true && chunk.bounds.isMaxExact) {
      out.binary(5, chunk.bounds.max);
      out.binary(6, chunk.bounds.min);
    }
    out.end();
    encodeEncodingCounts(chunk, hasDictionary);
  }
  if (chunk.bloomFilter !== undefined) {
    out.i64(14, chunk.bloomFilter.offset);
    out.i32(15, chunk.bloomFilter.bytes);
  }
  out.end();
  if (index !== undefined) {
    out.i64(4, index.offsetIndex.offset);
    out.i32(5, index.offsetIndex.bytes);
    out.i64(6, index.columnIndex.offset);
    out.i32(7, index.columnIndex.bytes);
  }
  out.end();
}

/** Lets readers see if all values are in the dictionary. */
function encodeEncodingCounts({ encodings: counts }: ColumnChunk, hasDictionary: boolean): void {
  out.list(13, 'struct', counts.size + (hasDictionary ? 1 : 0));
  if (hasDictionary) encodeCount(pageKinds.dictionary, encodings.plain, 1);
  for (const [encoding, pages] of counts) encodeCount(pageKinds.data, encoding, pages);
}

function encodeCount(kind: number, encoding: number, pages: number): void {
  out.begin();
  out.i32(1, kind);
  out.i32(2, encoding);
  out.i32(3, pages);
  out.end();
}
