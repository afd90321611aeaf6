import { kinds } from '../declare/kind.ts';
import type { TableDef } from '../declare/table.ts';
import { Arena } from '../decode/arena.ts';
import type { Batch, Vector } from '../decode/batch.ts';
import { byteValues, encodeDeltaLength, plainSize } from './byte-values.ts';
import { ColumnChunkWriter } from './column-chunk.ts';
import { dropFreeDictionaries } from './column-pages.ts';
import { codecs, encodings } from './encodings.ts';
import type { ColumnChunk, Place, RowGroup } from './file-footer.ts';
import { encodeDataHeader } from './page-header.ts';
import { encodeBits, encodeLevels, encodeNumbers } from './plain-values.ts';
import type { Compress, Decompress } from './zstd.ts';

/** Memory of the current column; shared by all files, because writing is synchronous. */
const arena = new Arena();

/** Returns the memory that encoding keeps for the next row group: after a large file, when only small ones follow. */
export function dropEncodingMemory(): void {
  arena.drop();
  dropFreeDictionaries();
}

/** A row group for writing. */
export interface EncodedGroup {
  /** Without places of Bloom filters. */
  readonly group: RowGroup;
  readonly parts: readonly Uint8Array[];
  /** Bloom filters of its columns, which are written after it. */
  readonly filters: readonly (Uint8Array | undefined)[];
}

/** A row group of a whole file in memory. */
export interface StoredGroup {
  readonly file: Uint8Array;
  readonly group: RowGroup;
}

/** The same bytes for writing at `start`. */
export function moveGroup({ file, group }: StoredGroup, start: number): EncodedGroup {
  const from = Math.min(...group.chunks.map(({ offset }) => offset));
  const to = Math.max(...group.chunks.map(({ offset, bytes }) => offset + bytes));
  const move = <T extends Place>(place: T): T => ({ ...place, offset: place.offset + start - from });
  const chunks = group.chunks.map((chunk) => ({
    ...move(chunk),
    dataOffset: chunk.dataOffset + start - from,
    pages: chunk.pages.map(move),
    bloomFilter: undefined,
  }));
  const filters = group.chunks.map(
    ({ bloomFilter: place }) => place && new Uint8Array(file.subarray(place.offset, place.offset + place.bytes)),
  );
  return { group: { ...group, chunks }, parts: [file.subarray(from, to)], filters };
}

/** An open row group: batches are encoded and compressed on arrival, and written when it is full. */
export class RowGroupWriter {
  readonly #chunks: readonly ColumnChunkWriter[];
  readonly #columns: ReadonlySet<string>;
  readonly #sort: readonly number[];
  #rows = 0;
  #plainBytes = 0;
  #isSorted = true;

  constructor(table: TableDef, columns: ReadonlySet<string>, compress: Compress) {
    const written = table.columns.filter(({ name }) => columns.has(name));
    this.#columns = columns;
    this.#chunks = written.map((column) => new ColumnChunkWriter(column, compress));
    const sort = table.sort.map((name) => written.findIndex((column) => column.name === name));
    // Rows sorted by all columns are also sorted by the first ones.
    this.#sort = sort.includes(-1) ? sort.slice(0, sort.indexOf(-1)) : sort;
  }

  get rows(): number {
    return this.#rows;
  }

  /** Size of the rows in PLAIN encoding, in bytes. */
  get plainBytes(): number {
    return this.#plainBytes;
  }

  /** Adds rows. The batch's memory may be reused afterwards. */
  add({ rows, vectors }: Batch, isSorted: boolean): void {
    let at = 0;
    for (const vector of vectors) {
      if (!this.#columns.has(vector.column.name)) continue;
      // Compressed pages have their own memory.
      arena.reset();
      this.#plainBytes += this.#chunks[at++]?.add(vector, rows, arena) ?? 0;
    }
    this.#rows += rows;
    this.#isSorted &&= isSorted;
  }

  /** Adds a row group of another file of the same columns. */
  addStored({ file, group }: StoredGroup, isSorted: boolean, decompress: Decompress): void {
    for (const [at, chunk] of this.#chunks.entries()) {
      arena.reset();
      this.#plainBytes += chunk.addStored(file, group.chunks[at] as ColumnChunk, decompress, arena);
    }
    this.#rows += group.rows;
    this.#isSorted &&= isSorted && group.sortedBy.length > 0;
  }

  /** The row group for writing at `start`. The last call. */
  finish(start: number): EncodedGroup {
    const chunks: ColumnChunk[] = [];
    const filters: (Uint8Array | undefined)[] = [];
    const parts: Uint8Array[] = [];
    let offset = start;
    for (const writer of this.#chunks) {
      arena.reset();
      const finished = writer.finish(offset, arena);
      chunks.push(finished.chunk);
      filters.push(finished.bloomFilter);
      parts.push(...finished.parts);
      offset += finished.chunk.bytes;
    }
    return { group: { rows: this.#rows, chunks, sortedBy: this.#isSorted ? this.#sort : [] }, parts, filters };
  }
}

/**
 * A batch as a row group about as laid out in memory: one page per column, without dictionaries, bounds and compression. Valid until
 * the next call.
 */
export function encodeSimpleGroup(
  { rows, vectors }: Batch,
  columns: ReadonlySet<string>,
  start: number,
): EncodedGroup & { readonly plainBytes: number } {
  const chunks: ColumnChunk[] = [];
  const parts: Uint8Array[] = [];
  let offset = start;
  let plainBytes = 0;
  arena.reset();
  for (const vector of vectors) {
    if (!columns.has(vector.column.name)) continue;
    const { nullCount: nulls } = vector;
    const levels = encodeLevels(vector, { from: 0, to: rows, nulls }, arena);
    const { encoding, data, plainBytes: own } = encodeSimple(vector, rows, arena);
    const size = data.reduce((sum, part) => sum + part.length, levels.length);
    const header = encodeDataHeader(rows, size, size, encoding);
    const bytes = header.length + size;
    parts.push(header, levels, ...data);
    const encodings = new Map([[encoding, 1]]);
    const sizes = { rows, bytes, rawBytes: bytes, nulls };
    chunks.push({ offset, dataOffset: offset, encodings, codec: codecs.none, ...sizes, bounds: undefined, pages: [] });
    offset += bytes;
    plainBytes += levels.length + own;
  }
  return { group: { rows, chunks, sortedBy: [] }, parts, filters: [], plainBytes };
}

/** A column chunk in its fastest form: one page without levels, dictionary, bounds or compression. */
interface EncodedColumn {
  /** Encoding of `data`. */
  readonly encoding: number;
  /** The data page after its levels. */
  readonly data: readonly Uint8Array[];
  /** Size in PLAIN encoding, in bytes. */
  readonly plainBytes: number;
}

/** The result is in memory of the arena or the vector. */
function encodeSimple(vector: Vector, rows: number, arena: Arena): EncodedColumn {
  const { physical } = kinds[vector.column.kind];
  if (physical === 'utf8' || physical === 'binary') {
    const values = byteValues(vector, rows, arena);
    return {
      encoding: encodings.deltaLength,
      data: encodeDeltaLength(values, arena),
      plainBytes: plainSize(values),
    };
  }
  const values =
    physical === 'bool'
      ? encodeBits(vector, { from: 0, to: rows, nulls: vector.nullCount }, arena)
      : encodeNumbers(physical, vector, rows, arena);
  return { encoding: encodings.plain, data: [values], plainBytes: values.length };
}
