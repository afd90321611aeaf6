import { closeSync, openSync, writevSync } from 'node:fs';
import type { ColumnDef } from '../declare/column.ts';
import { kinds } from '../declare/kind.ts';
import type { TableDef } from '../declare/table.ts';
import type { Batch } from '../decode/batch.ts';
import { encodeFooter, type Indexes, type Place, type RowGroup } from './file-footer.ts';
import { encodeColumnIndex, encodeOffsetIndex } from './page-index.ts';
import { type EncodedGroup, encodeSimpleGroup, moveGroup, RowGroupWriter, type StoredGroup } from './row-group.ts';
import type { Compress, Decompress } from './zstd.ts';

const magic = Buffer.from('PAR1');

/**
 * Maximum size of a row group, in rows and in bytes of PLAIN encoding. Readers work on row groups in parallel, and a lookup reads at
 * least one; but each adds to the footer, which every query reads. A Bloom filter of 128 KB fits this many values.
 */
const FULL = { rows: 52 * 2048, bytes: 32 * 2 ** 20 } as const;

/**
 * Row groups of this many rows are copied as they are, with their filters. Queries of ten per file took as long as with those of 30,000, and
 * lookups of a hash half as long.
 */
const LARGE_ROWS = 8192;

/**
 * Appends batches to a Parquet file.
 *
 * With `compress`, the file is for readers: batches are collected into row groups, with dictionaries if they pay off, statistics, a
 * page index, declared Bloom filters and compressed pages. Without it, each batch is a row group about as laid out in memory, which
 * DuckDB reads at almost no cost to insert it into a DuckDB file. Writes are synchronous.
 */
export class FileWriter {
  readonly table: TableDef;
  readonly path: string;
  readonly #compress: Compress | undefined;
  readonly #columns: ReadonlySet<string>;
  readonly #file: number;
  readonly #groups: RowGroup[] = [];
  #open: RowGroupWriter | undefined;
  /** A pending row group of another file: copied unchanged, unless further small ones can be merged with it. */
  #alone: StoredGroup | undefined;
  /** Bloom filters of the last row group, by column, which are not written yet. */
  #filters: EncodedGroup['filters'] = [];
  #position = 0;
  #plainBytes = 0;
  #rows = 0;
  #isClosed = false;

  /** @param columns names of the columns to write; default all */
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

  /** Bytes written so far. */
  get bytes(): number {
    return this.#position;
  }

  /** Size of the rows in PLAIN encoding, in bytes. */
  get plainBytes(): number {
    return this.#plainBytes;
  }

  /**
   * Writes rows. The batch's memory may be reused afterwards.
   *
   * @param isSorted true if the rows continue the sort order of the table; stored in the file
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
    if (this.#alone !== undefined || (this.#open !== undefined && isFull(this.#open, batch.rows))) this.#closeGroup();
    this.#open ??= new RowGroupWriter(this.table, this.#columns, this.#compress);
    const before = this.#open.plainBytes;
    this.#open.add(batch, isSorted);
    this.#plainBytes += this.#open.plainBytes - before;
  }

  /**
   * Appends a row group of another file of the same columns. Large ones are copied as they are, small ones become one. Its memory is needed
   * until the next row group is written.
   *
   * @param isSorted true if its rows continue the sort order of the table
   */
  copy(stored: StoredGroup, isSorted: boolean, decompress: Decompress): void {
    const own = sizeOf(stored);
    const open = this.#open ?? (this.#alone && sizeOf(this.#alone));
    const isLarge = own.rows >= LARGE_ROWS || (this.#alone?.group.rows ?? 0) >= LARGE_ROWS;
    if (open !== undefined && (isLarge || isFull(open, own.rows, own.plainBytes))) this.#closeGroup();
    this.#rows += own.rows;
    this.#plainBytes += own.plainBytes;
    if (this.#open === undefined && this.#alone === undefined) {
      this.#alone = stored;
      return;
    }
    if (this.#alone !== undefined) {
      this.#open = new RowGroupWriter(this.table, this.#columns, this.#compress as Compress);
      this.#open.addStored(this.#alone, true, decompress);
      this.#alone = undefined;
    }
    this.#open?.addStored(stored, isSorted, decompress);
  }

  /** Writes the footer and closes the file. */
  finish(): void {
    try {
      this.#closeGroup();
      const columns = this.table.columns.filter(({ name }) => this.#columns.has(name));
      const places = this.#appendIndexes(columns);
      // Next to the footer, so that readers get the filters of a small file together with it.
      this.#appendFilters();
      const footer = encodeFooter(columns, this.#groups, places);
      const length = Buffer.alloc(4);
      length.writeUInt32LE(footer.length);
      this.#append([footer, length, magic]);
    } finally {
      this.abandon();
    }
  }

  /** Closes the file without a footer, so that it is unreadable. */
  abandon(): void {
    this.#open?.drop();
    this.#open = undefined;
    if (!this.#isClosed) closeSync(this.#file);
    this.#isClosed = true;
  }

  #closeGroup(): void {
    if (this.#open !== undefined || this.#alone !== undefined) this.#appendFilters();
    if (this.#open !== undefined) this.#appendGroup(this.#open.finish(this.#position));
    if (this.#alone !== undefined) this.#appendGroup(moveGroup(this.#alone, this.#position));
    this.#open = undefined;
    this.#alone = undefined;
  }

  #appendGroup({ group, parts, filters }: EncodedGroup): void {
    this.#append(parts);
    this.#groups.push(group);
    this.#filters = filters;
  }

  /** Writes the Bloom filters of the last row group. */
  #appendFilters(): void {
    const group = this.#groups.at(-1);
    if (group === undefined) return;
    const filters = this.#filters;
    const places = this.#appendEach(filters.filter((filter) => filter !== undefined)).values();
    const chunks = group.chunks.map((chunk, at) =>
      filters[at] === undefined ? chunk : { ...chunk, bloomFilter: places.next().value },
    );
    this.#groups[this.#groups.length - 1] = { ...group, chunks };
    this.#filters = [];
  }

  /** Writes the page index: first all ColumnIndexes, then all OffsetIndexes. */
  #appendIndexes(columns: readonly ColumnDef[]): Indexes {
    const chunks = this.#groups.flatMap(({ chunks }) => chunks.map((chunk, at) => ({ chunk, column: columns[at] })));
    const indexed = chunks.filter(({ chunk }) => chunk.pages.length > 0);
    const columnIndexes = this.#appendEach(
      indexed.map(({ chunk, column }) => encodeColumnIndex(kinds[(column as ColumnDef).kind].physical, chunk.pages)),
    );
    const offsetIndexes = this.#appendEach(indexed.map(({ chunk }) => encodeOffsetIndex(chunk.pages)));
    return new Map(
      indexed.map(({ chunk }, at) => [
        chunk.pages,
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
    for (let from = 0; from < all.length; from += MAX_PARTS) this.#appendSome(all.slice(from, from + MAX_PARTS));
  }

  #appendSome(parts: readonly Uint8Array[]): void {
    const size = parts.reduce((sum, part) => sum + part.length, 0);
    let done = writevSync(this.#file, parts, this.#position);
    // A nearly full disk takes only part of the bytes; another write gives the error.
    if (done < size) {
      const rest = Buffer.concat(parts);
      while (done < size) done += writevSync(this.#file, [rest.subarray(done)], this.#position + done);
    }
    this.#position += size;
  }
}

/** Maximum parts per write on Linux. */
const MAX_PARTS = 1024;

/** True if more rows, by default of the average size so far, would exceed a row group. */
function isFull({ rows, plainBytes }: GroupSize, more: number, moreBytes = (plainBytes / rows) * more): boolean {
  return rows + more > FULL.rows || plainBytes + moreBytes > FULL.bytes;
}

type GroupSize = Pick<RowGroupWriter, 'rows' | 'plainBytes'>;

function sizeOf({ group: { rows, chunks } }: StoredGroup): GroupSize {
  return { rows, plainBytes: chunks.reduce((sum, { rawBytes }) => sum + rawBytes, 0) };
}
