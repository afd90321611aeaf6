import type { ColumnDef } from '../declare/column.ts';
import { kinds } from '../declare/kind.ts';
import type { Arena } from '../decode/arena.ts';
import type { Vector } from '../decode/batch.ts';
import { BloomFilterWriter } from './bloom-filter.ts';
import { ColumnDictionary, type EncodedPage, encodePages } from './column-pages.ts';
import { codecs, encodings } from './encodings.ts';
import type { ColumnChunk } from './file-footer.ts';
import { encodeDataHeader, encodeDictionaryHeader } from './page-header.ts';
import type { IndexedPage } from './page-index.ts';
import { encodeLevels } from './plain-values.ts';
import { type Bounds, mergeBounds } from './statistics.ts';
import { truncateBounds } from './truncated-bounds.ts';
import type { Compress } from './zstd.ts';

/** Maximum size of bounds in the footer, which has them for every column of every row group. */
const LONGEST_BOUND = 256;

/** A column chunk, and its Bloom filter, which is written after the row group. */
interface FinishedChunk {
  readonly chunk: ColumnChunk;
  readonly parts: readonly Uint8Array[];
  readonly bloomFilter: Uint8Array | undefined;
}

/** A column of an open row group: pages are encoded and compressed per batch, and written when the row group is full. */
export class ColumnChunkWriter {
  readonly #column: ColumnDef;
  readonly #compress: Compress;
  readonly #dictionary: ColumnDictionary;
  readonly #parts: Uint8Array[] = [];
  readonly #pages: IndexedPage[] = [];
  /** Number of data pages by encoding. */
  readonly #encodings = new Map<number, number>();
  #rows = 0;
  #nulls = 0;
  #bytes = 0;
  #rawBytes = 0;
  #bounds: Bounds | undefined;
  readonly #bloomFilter: BloomFilterWriter | undefined;

  constructor(column: ColumnDef, compress: Compress) {
    this.#column = column;
    this.#compress = compress;
    this.#dictionary = new ColumnDictionary(column);
    const { physical } = kinds[column.kind];
    const hasFilter = column.bloomFilter === true && physical !== 'bool';
    this.#bloomFilter = hasFilter ? new BloomFilterWriter(physical) : undefined;
  }

  /**
   * Adds the rows of a batch. The memory of arena and vector may be reused afterwards.
   *
   * @returns their size in PLAIN encoding, in bytes
   */
  add(vector: Vector, rows: number, arena: Arena): number {
    const { pages, plainBytes } = encodePages(vector, rows, this.#dictionary, arena);
    let levelBytes = 0;
    for (const page of pages) {
      const levels = encodeLevels(vector, page, arena);
      levelBytes += levels.length;
      this.#addPage(page, levels, arena);
      // The values of a dictionary are added once, at the end.
      if (page.encoding === encodings.plain) this.#bloomFilter?.add(page.data, page.to - page.from - page.nulls);
    }
    return plainBytes + levelBytes;
  }

  /** The pages for writing at `offset`. The last call. */
  finish(offset: number, arena: Arena): FinishedChunk {
    const dictionary = this.#encodeDictionary(arena);
    this.#dictionary.release();
    const dataOffset = offset + dictionary.bytes;
    const chunk: ColumnChunk = {
      offset,
      dataOffset,
      encodings: this.#encodings,
      codec: codecs.zstd,
      rows: this.#rows,
      bytes: dictionary.bytes + this.#bytes,
      rawBytes: dictionary.rawBytes + this.#rawBytes,
      nulls: this.#nulls,
      bounds: this.#bounds,
      pages: this.#pages.map((page) => ({ ...page, offset: page.offset + dataOffset })),
    };
    return { chunk, parts: [...dictionary.parts, ...this.#parts], bloomFilter: this.#bloomFilter?.encode() };
  }

  #addPage({ from, to, nulls, encoding, data, bounds }: EncodedPage, levels: Uint8Array, arena: Arena): void {
    const rows = to - from;
    const raw = join(levels, data, arena);
    const page = this.#compress(raw);
    const header = encodeDataHeader(rows, page.length, raw.length, encoding);
    const bytes = header.length + page.length;
    const { physical } = kinds[this.#column.kind];
    const kept = bounds && truncateBounds(physical, bounds, LONGEST_BOUND);
    this.#parts.push(header, page);
    this.#pages.push({ offset: this.#bytes, bytes, firstRow: this.#rows, nulls, bounds: kept });
    this.#encodings.set(encoding, (this.#encodings.get(encoding) ?? 0) + 1);
    this.#bounds = mergeBounds(physical, this.#bounds, kept);
    this.#bytes += bytes;
    this.#rawBytes += header.length + raw.length;
    this.#rows += rows;
    this.#nulls += nulls;
  }

  #encodeDictionary(arena: Arena): {
    readonly parts: readonly Uint8Array[];
    readonly bytes: number;
    readonly rawBytes: number;
  } {
    if (!this.#encodings.has(encodings.dictionary)) return { parts: [], bytes: 0, rawBytes: 0 };
    const raw = this.#dictionary.encode(arena);
    this.#bloomFilter?.add(raw, this.#dictionary.size);
    const page = this.#compress(raw);
    const header = encodeDictionaryHeader(this.#dictionary.size, page.length, raw.length);
    return {
      parts: [header, page],
      bytes: header.length + page.length,
      rawBytes: header.length + raw.length,
    };
  }
}

function join(levels: Uint8Array, data: Uint8Array, arena: Arena): Uint8Array {
  const joined = arena.take(levels.length + data.length);
  joined.set(levels);
  joined.set(data, levels.length);
  return joined;
}
