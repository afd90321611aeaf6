import { closeSync, openSync, writevSync } from 'node:fs';
import type { TableDef } from '../declare/table.ts';
import { Arena } from '../decode/arena.ts';
import type { Batch, Vector } from '../decode/batch.ts';
import { encodeFinal, encodeSimple } from './encoded-column.ts';
import {
  type ColumnChunk,
  codecs,
  encodeDataHeader,
  encodeDictionaryHeader,
  encodeFooter,
  type RowGroup,
} from './file-footer.ts';
import { encodeLevels } from './plain-values.ts';
import type { Compress } from './zstd.ts';

const magic = Buffer.from('PAR1');

/** Memory of the column that is being written; writing does not yield, so one for all files. */
const arena = new Arena();

/**
 * Appends batches to a Parquet file, one row group for each.
 *
 * With `compress` the file is fit for readers: dictionaries where they pay, statistics, compressed pages. Without, it is
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
  #position = 0;
  #plainBytes = 0;
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
    return this.#groups.reduce((sum, group) => sum + group.rows, 0);
  }

  /** Bytes that the rows take in PLAIN encoding, whatever form they were written in. */
  get plainBytes(): number {
    return this.#plainBytes;
  }

  /** How many row groups it has. */
  get groups(): number {
    return this.#groups.length;
  }

  /** Writes the rows as one row group. The batch's memory may be reused afterwards. */
  write({ rows, vectors }: Batch): void {
    if (rows === 0) return;
    const parts: Uint8Array[] = [];
    const chunks: ColumnChunk[] = [];
    let offset = this.#position;
    arena.reset();
    for (const vector of vectors) {
      if (!this.#columns.has(vector.column.name)) continue;
      // Compressed pages are memory of their own.
      if (this.#compress !== undefined) arena.reset();
      const chunk = this.#encode(vector, rows, offset, parts);
      chunks.push(chunk);
      offset += chunk.bytes;
    }
    this.#append(parts);
    this.#groups.push({ rows, chunks });
  }

  /** Writes the footer and closes the file. */
  finish(): void {
    const footer = encodeFooter(
      this.table.columns.filter(({ name }) => this.#columns.has(name)),
      this.#groups,
    );
    const length = Buffer.alloc(4);
    length.writeUInt32LE(footer.length);
    try {
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

  #encode(vector: Vector, rows: number, offset: number, parts: Uint8Array[]): ColumnChunk {
    const levels = encodeLevels(vector, rows, arena);
    const compress = this.#compress;
    const isFinal = compress !== undefined;
    const column = isFinal ? encodeFinal(vector, rows, arena) : encodeSimple(vector, rows, arena);
    const { encoding, dictionary, bounds } = column;
    this.#plainBytes += levels.length + column.plainBytes;
    let dataOffset = offset;
    let rawBytes = 0;
    if (isFinal && dictionary !== undefined) {
      const page = compress(dictionary.values);
      const header = encodeDictionaryHeader(dictionary.size, page.length, dictionary.values.length);
      parts.push(header, page);
      dataOffset += header.length + page.length;
      rawBytes += header.length + dictionary.values.length;
    }
    const data = [levels, ...column.data];
    const rawSize = sizeOf(data);
    const pages = isFinal ? [compress(join(data, rawSize))] : data;
    const size = sizeOf(pages);
    const header = encodeDataHeader(rows, size, rawSize, encoding);
    parts.push(header, ...pages);
    return {
      offset,
      dataOffset,
      encoding,
      codec: isFinal ? codecs.zstd : codecs.none,
      bytes: dataOffset - offset + header.length + size,
      rawBytes: rawBytes + header.length + rawSize,
      nulls: vector.nullCount,
      bounds,
    };
  }

  #append(parts: readonly Uint8Array[]): void {
    const size = sizeOf(parts);
    let done = writevSync(this.#file, parts, this.#position);
    // A disk that is nearly full takes a part of the bytes; asking again tells why.
    if (done < size) {
      const rest = Buffer.concat(parts);
      while (done < size) done += writevSync(this.#file, [rest.subarray(done)], this.#position + done);
    }
    this.#position += size;
  }
}

function sizeOf(parts: readonly Uint8Array[]): number {
  let size = 0;
  for (const part of parts) size += part.length;
  return size;
}

function join(parts: readonly Uint8Array[], size: number): Uint8Array {
  const joined = arena.take(size);
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
