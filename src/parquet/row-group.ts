import { kinds } from '../declare/kind.ts';
import type { TableDef } from '../declare/table.ts';
import type { Batch } from '../decode/batch.ts';
import { ColumnChunkWriter } from './column-chunk.ts';
import { ChunkEncoder } from './encoder.ts';
import type { ColumnChunk, Place, RowGroup } from './file-footer.ts';
import { codecs, encodeDataHeader } from './page-header.ts';
import type { Compress, Decompress } from './zstd.ts';

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
      this.#plainBytes += this.#chunks[at++]?.add(vector, rows) ?? 0;
    }
    this.#rows += rows;
    this.#isSorted &&= isSorted;
  }

  /** Adds a row group of another file of the same columns. */
  addStored({ file, group }: StoredGroup, isSorted: boolean, decompress: Decompress): void {
    for (const [at, chunk] of this.#chunks.entries()) {
      this.#plainBytes += chunk.addStored(file, group.chunks[at] as ColumnChunk, decompress);
    }
    this.#rows += group.rows;
    this.#isSorted &&= isSorted && group.sortedBy.length > 0;
  }

  /** The row group for writing at `start`. Must be the last call. */
  finish(start: number): EncodedGroup {
    const chunks: ColumnChunk[] = [];
    const filters: (Uint8Array | undefined)[] = [];
    const parts: Uint8Array[] = [];
    let offset = start;
    for (const writer of this.#chunks) {
      const finished = writer.finish(offset);
      chunks.push(finished.chunk);
      filters.push(finished.bloomFilter);
      parts.push(...finished.parts);
      offset += finished.chunk.bytes;
    }
    return { group: { rows: this.#rows, chunks, sortedBy: this.#isSorted ? this.#sort : [] }, parts, filters };
  }

  /** Frees its memory, if the file is abandoned. */
  drop(): void {
    for (const chunk of this.#chunks) chunk.drop();
  }
}

/** A batch as a row group for DuckDB to read once: one page per column, without dictionaries, bounds and compression. */
export function encodeSimpleGroup(
  { rows, vectors }: Batch,
  columns: ReadonlySet<string>,
  start: number,
): EncodedGroup & { readonly plainBytes: number } {
  const chunks: ColumnChunk[] = [];
  const parts: Uint8Array[] = [];
  let offset = start;
  let plainBytes = 0;
  for (const vector of vectors) {
    if (!columns.has(vector.column.name)) continue;
    const { nullCount: nulls, column } = vector;
    const encoder = new ChunkEncoder(kinds[column.kind].physical, { isFinal: false, hasFilter: false });
    const { pages, plainBytes: own } = encoder.encode(vector, rows);
    for (const { raw, encoding } of pages) {
      const header = encodeDataHeader(rows, raw.length, raw.length, encoding);
      const bytes = header.length + raw.length;
      parts.push(header, raw.slice());
      const sizes = { rows, bytes, rawBytes: bytes, nulls };
      const encodings = new Map([[encoding, 1]]);
      chunks.push({
        offset,
        dataOffset: offset,
        encodings,
        codec: codecs.none,
        ...sizes,
        bounds: undefined,
        pages: [],
      });
      offset += bytes;
    }
    encoder.drop();
    plainBytes += own;
  }
  return { group: { rows, chunks, sortedBy: [] }, parts, filters: [], plainBytes };
}
