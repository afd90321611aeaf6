import type { ColumnDef } from '../declare/column.ts';
import { kinds } from '../declare/kind.ts';
import type { Vector } from '../decode/batch.ts';
import {
  decodeColumn,
  decodeIndices,
  encodingOf,
  entriesOf,
  readPage,
  type StoredPage,
  splitLevels,
  unpack,
} from './decode-column.ts';
import { ChunkEncoder } from './encoder.ts';
import type { ColumnChunk } from './file-footer.ts';
import { codecs, encodeDataHeader, encodeDictionaryHeader, encodings } from './page-header.ts';
import type { IndexedPage } from './page-index.ts';
import { type Bounds, mergeBounds, truncateBounds } from './statistics.ts';
import { out } from './thrift.ts';
import type { Compress, Decompress } from './zstd.ts';

/** Maximum size of bounds in the footer, which has them for every column of every row group. */
const MAX_BOUND = 256;

/** A column chunk, and its Bloom filter, which is written after the row group. */
interface FinishedChunk {
  readonly chunk: ColumnChunk;
  readonly parts: readonly Uint8Array[];
  readonly bloomFilter: Uint8Array | undefined;
}

/** A page that follows the others. */
type NewPage = Pick<IndexedPage, 'nulls' | 'bounds'> & { readonly rows: number };

/** A column of an open row group: pages are encoded and compressed per batch, and written when the row group is full. */
export class ColumnChunkWriter {
  readonly #column: ColumnDef;
  readonly #compress: Compress;
  readonly #encoder: ChunkEncoder;
  readonly #hasFilter: boolean;
  readonly #parts: Uint8Array[] = [];
  readonly #pages: IndexedPage[] = [];
  /** Number of data pages by encoding. */
  readonly #encodings = new Map<number, number>();
  #rows = 0;
  #nulls = 0;
  #bytes = 0;
  #rawBytes = 0;
  #bounds: Bounds | undefined;

  constructor(column: ColumnDef, compress: Compress) {
    this.#column = column;
    this.#compress = compress;
    const { physical } = kinds[column.kind];
    // DuckDB looks for bytes in a filter as for text, with escapes, and finds none; that is so in its own files, too.
    this.#hasFilter = column.bloomFilter === true && physical !== 'bool' && physical !== 'binary';
    this.#encoder = new ChunkEncoder(physical, { isFinal: true, hasFilter: this.#hasFilter });
  }

  /**
   * Adds the rows of a batch, whose memory may be reused afterwards.
   *
   * @returns their size in PLAIN encoding, in bytes
   */
  add(vector: Vector, rows: number): number {
    const { physical } = kinds[this.#column.kind];
    const { pages, plainBytes } = this.#encoder.encode(vector, rows);
    for (const { raw, encoding, bounds: exact, ...page } of pages) {
      const bounds = exact && truncateBounds(physical, exact, MAX_BOUND);
      this.#bounds = mergeBounds(physical, this.#bounds, bounds);
      this.#writePage(raw, { ...page, bounds }, encoding);
    }
    return plainBytes;
  }

  /**
   * Adds a column chunk of a whole file of the same column, with a page index. Pages are copied as they are, except for positions in the
   * dictionary, because a column chunk has one: they change, or become values if there is no space for all entries.
   *
   * @returns about their size in PLAIN encoding, in bytes
   */
  addStored(file: Uint8Array, stored: ColumnChunk, decompress: Decompress): number {
    const hasDictionary = stored.encodings.has(encodings.dictionary);
    const positions = hasDictionary ? this.#mergeDictionary(file, stored, decompress) : undefined;
    if (hasDictionary && positions === undefined) {
      return this.add(decodeColumn(this.#column, file, stored, decompress), stored.rows);
    }
    const isSame = positions?.every((position, entry) => position === entry) === true;
    for (const [at, place] of stored.pages.entries()) {
      const rows = (stored.pages[at + 1]?.firstRow ?? stored.rows) - place.firstRow;
      const page = readPage(file, place.offset);
      const own = { ...place, rows };
      if (encodingOf(page) === encodings.plain) {
        if (this.#hasFilter)
          this.#encoder.addToFilter(splitLevels(unpack(page, decompress)).values, rows - place.nulls);
        this.#copyPage(file, own, page, encodings.plain);
      } else if (isSame) {
        this.#copyPage(file, own, page, encodings.dictionary);
      } else {
        const { levels, values } = splitLevels(unpack(page, decompress));
        const present = rows - place.nulls;
        const entries = decodeIndices({ values, present }).subarray(0, present);
        const moved = entries.map((entry) => positions?.[entry] ?? 0);
        this.#writePage(Buffer.concat([levels, this.#encoder.packPositions(moved)]), own, encodings.dictionary);
      }
    }
    const { physical } = kinds[this.#column.kind];
    for (const bounds of stored.bounds === undefined ? stored.pages.map((page) => page.bounds) : [stored.bounds]) {
      this.#bounds = mergeBounds(physical, this.#bounds, bounds);
    }
    return stored.rawBytes;
  }

  /** The position of each entry of a stored dictionary; undefined if there is no space for them. */
  #mergeDictionary(file: Uint8Array, { offset }: ColumnChunk, decompress: Decompress): Int32Array | undefined {
    const page = readPage(file, offset);
    const count = entriesOf(page);
    return this.#encoder.merge(unpack(page, decompress), count);
  }

  /** The pages for writing at `offset`. Must be the last call. */
  finish(offset: number): FinishedChunk {
    const dictionary = this.#encodeDictionary();
    const bloomFilter = this.#hasFilter ? encodeFilter(this.#encoder) : undefined;
    this.drop();
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
    return { chunk, parts: [...dictionary.parts, ...this.#parts], bloomFilter };
  }

  /** Frees its memory, if the file is abandoned. */
  drop(): void {
    this.#encoder.drop();
  }

  #writePage(raw: Uint8Array, page: NewPage, encoding: number): void {
    const packed = this.#compress(raw);
    const header = encodeDataHeader(page.rows, packed.length, raw.length, encoding);
    this.#parts.push(header, packed);
    this.#rawBytes += header.length + raw.length;
    this.#enter(page, header.length + packed.length, encoding);
  }

  #copyPage(file: Uint8Array, page: NewPage & IndexedPage, { rawBytes }: StoredPage, encoding: number): void {
    this.#parts.push(file.subarray(page.offset, page.offset + page.bytes));
    this.#rawBytes += rawBytes;
    this.#enter(page, page.bytes, encoding);
  }

  #enter({ rows, nulls, bounds }: NewPage, bytes: number, encoding: number): void {
    this.#pages.push({ offset: this.#bytes, bytes, firstRow: this.#rows, nulls, bounds });
    this.#encodings.set(encoding, (this.#encodings.get(encoding) ?? 0) + 1);
    this.#bytes += bytes;
    this.#rows += rows;
    this.#nulls += nulls;
  }

  #encodeDictionary(): {
    readonly parts: readonly Uint8Array[];
    readonly bytes: number;
    readonly rawBytes: number;
  } {
    if (!this.#encodings.has(encodings.dictionary)) return { parts: [], bytes: 0, rawBytes: 0 };
    const { values: raw, count } = this.#encoder.closeDictionary();
    const page = this.#compress(raw);
    const header = encodeDictionaryHeader(count, page.length, raw.length);
    return {
      parts: [header, page],
      bytes: header.length + page.length,
      rawBytes: header.length + raw.length,
    };
  }
}

const FALSE_POSITIVE_RATE = 0.01;
const FILTER_BLOCK_BYTES = 32;
const FILTER_BLOCK_WORDS = 8;

/** Size of a filter in bytes: a power of two, because Arrow requires it. */
export function filterBytes(values: number): number {
  const bits = (-FILTER_BLOCK_WORDS * values) / Math.log(1 - FALSE_POSITIVE_RATE ** (1 / FILTER_BLOCK_WORDS));
  return 2 ** Math.ceil(Math.log2(Math.max(FILTER_BLOCK_BYTES, bits / 8)));
}

/** Header and bits of the filter of a column chunk; undefined for at most one value, for which the bounds suffice. */
function encodeFilter(encoder: ChunkEncoder): Uint8Array | undefined {
  const { filterCount } = encoder;
  if (filterCount <= 1) return undefined;
  const bits = encoder.encodeFilter(filterBytes(filterCount));
  return Buffer.concat([encodeFilterHeader(bits.length), bits]);
}

/** A BloomFilterHeader of parquet.thrift: split blocks, xxHash64, uncompressed. */
function encodeFilterHeader(bytes: number): Uint8Array {
  out.begin();
  out.i32(1, bytes);
  for (const choice of [2, 3, 4]) {
    out.begin(choice);
    out.empty(1);
    out.end();
  }
  out.end();
  return out.take();
}
