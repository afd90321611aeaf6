import { closeSync, openSync, writevSync } from 'node:fs';
import type { ColumnDef } from '../declare/column.ts';
import { kinds } from '../declare/kind.ts';
import type { TableDef } from '../declare/table.ts';
import type { Batch } from '../decode/batch.ts';
import { type ColumnChunk, encodeFooter, type IndexPlace, type Place, type RowGroup } from './file-footer.ts';
import { encodeColumnIndex, encodeOffsetIndex } from './page-index.ts';
import { type EncodedGroup, encodeSimpleGroup, RowGroupWriter } from './row-group.ts';
import type { Compress } from './zstd.ts';

const magic = Buffer.from('PAR1');

/**
 * Size of a full row group, in rows and in bytes in PLAIN encoding. A reader's threads share a file by row groups, and a lookup reads at
 * least one of them; but each costs a part of the footer, which every query reads. A Bloom filter of 128 KB takes so many values.
 */
const FULL = { rows: 52 * 2048, bytes: 32 * 2 ** 20 } as const;

/**
 * Appends batches to a Parquet file.
 *
 * With `compress` the file is fit for readers: batches are gathered in row groups of good size, with dictionaries where they pay,
 * statistics, a page index, Bloom filters where the table declares them, and compressed pages. Without, each batch is a row group
 * as it lies in our memory, the form for the way from our memory into a DuckDB file: DuckDB reads it for next to nothing. Bytes are handed to the
 * system's cache at once, without a detour through other threads.
 */
export class FileWriter {
  readonly table: TableDef;
  readonly path: string;
  readonly #compress: Compress | undefined;
  readonly #columns: ReadonlySet<string>;
  readonly #file: number;
  readonly #groups: RowGroup[] = [];
  #open: RowGroupWriter | undefined;
  #position = 0;
  #plainBytes = 0;
  #rows = 0;
  #isClosed = false;

  /** @param columns names of those to write; default all */
  constructor(path: string, table: TableDef, compress?: Compress, columns?: readonly string[]) {
    this.table = table;
    this.path = path;
    this.#compress = compress;
    this.#columns = new Set(columns ?? table.columns.map(({ name }) => name));
    this.#file = openSync(path, 'wx');
    this.#append([magic]);
  }

  get rows(): number {
    return this.#rows;
  }

  /** Bytes that the rows take in PLAIN encoding, whatever form they were written in. */
  get plainBytes(): number {
    return this.#plainBytes;
  }

  /**
   * Writes rows. The batch's memory may be reused afterwards.
   *
   * @param isSorted whether the rows follow on those before in the order of the table; readers are told so
   */
  write(batch: Batch, isSorted = false): void {
    if (batch.rows === 0) return;
    this.#rows += batch.rows;
    if (this.#compress === undefined) {
      const { plainBytes, ...encoded } = encodeSimpleGroup(batch, this.#columns, this.#position);
      this.#plainBytes += plainBytes;
      this.#appendGroup(encoded);
      return;
    }
    if (this.#open !== undefined && isFull(this.#open, batch.rows)) this.#closeGroup();
    this.#open ??= new RowGroupWriter(this.table, this.#columns, this.#compress);
    const before = this.#open.plainBytes;
    this.#open.add(batch, isSorted);
    this.#plainBytes += this.#open.plainBytes - before;
  }

  /** Writes the footer and closes the file. */
  finish(): void {
    try {
      this.#closeGroup();
      const columns = this.table.columns.filter(({ name }) => this.#columns.has(name));
      const footer = encodeFooter(columns, this.#groups, this.#appendIndexes(columns));
      const length = Buffer.alloc(4);
      length.writeUInt32LE(footer.length);
      this.#append([footer, length, magic]);
    } finally {
      this.abandon();
    }
  }

  /** Closes the file as it is: without its footer it stays unreadable. */
  abandon(): void {
    if (!this.#isClosed) closeSync(this.#file);
    this.#isClosed = true;
  }

  #closeGroup(): void {
    if (this.#open !== undefined) this.#appendGroup(this.#open.finish(this.#position));
    this.#open = undefined;
  }

  #appendGroup({ group, parts }: EncodedGroup): void {
    this.#append(parts);
    this.#groups.push(group);
  }

  /** Writes the page index: what a reader filters by side by side, then where the pages stand. */
  #appendIndexes(columns: readonly ColumnDef[]): ReadonlyMap<ColumnChunk, IndexPlace> {
    const chunks = this.#groups.flatMap(({ chunks }) => chunks.map((chunk, at) => ({ chunk, column: columns[at] })));
    const indexed = chunks.filter(({ chunk }) => chunk.pages.length > 0);
    const columnIndexes = this.#appendEach(
      indexed.map(({ chunk, column }) => encodeColumnIndex(kinds[(column as ColumnDef).kind].physical, chunk.pages)),
    );
    const offsetIndexes = this.#appendEach(indexed.map(({ chunk }) => encodeOffsetIndex(chunk.pages)));
    return new Map(
      indexed.map(({ chunk }, at) => [
        chunk,
        { columnIndex: columnIndexes[at] as Place, offsetIndex: offsetIndexes[at] as Place },
      ]),
    );
  }

  #appendEach(parts: readonly Uint8Array[]): readonly Place[] {
    let offset = this.#position;
    const places = parts.map(({ length }) => {
      offset += length;
      return { offset: offset - length, bytes: length };
    });
    this.#append(parts);
    return places;
  }

  #append(all: readonly Uint8Array[]): void {
    for (let from = 0; from < all.length; from += MOST_PARTS) this.#appendSome(all.slice(from, from + MOST_PARTS));
  }

  #appendSome(parts: readonly Uint8Array[]): void {
    const size = parts.reduce((sum, part) => sum + part.length, 0);
    let done = writevSync(this.#file, parts, this.#position);
    // A disk that is nearly full takes a part of the bytes; asking again tells why.
    if (done < size) {
      const rest = Buffer.concat(parts);
      while (done < size) done += writevSync(this.#file, [rest.subarray(done)], this.#position + done);
    }
    this.#position += size;
  }
}

/** Linux takes no more parts in one write. */
const MOST_PARTS = 1024;

/** Whether so many more rows, of the size of those so far, would be too much for a row group. */
function isFull({ rows, plainBytes }: RowGroupWriter, more: number): boolean {
  return rows + more > FULL.rows || (plainBytes / rows) * (rows + more) > FULL.bytes;
}
