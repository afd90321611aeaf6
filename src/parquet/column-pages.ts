import type { ColumnDef } from '../declare/column.ts';
import { kinds } from '../declare/kind.ts';
import type { Arena } from '../decode/arena.ts';
import type { Vector } from '../decode/batch.ts';
import { type ByteValues, byteValues, encodePlain, plainSize } from './byte-values.ts';
import { decodeEntries } from './decode-column.ts';
import { ByteDictionary, WordDictionary } from './dictionary.ts';
import { encodeIndices, entriesIn } from './dictionary-indices.ts';
import { encodings } from './encodings.ts';
import { countNulls, encodeBits, encodeNumbers, type Numeric, type RowRange } from './plain-values.ts';
import { type Bounds, boundsOfBits, boundsOfBytes, boundsOfNumbers } from './statistics.ts';

/** A data page without levels, before compression; in memory of the arena or the vector. */
export interface EncodedPage extends RowRange {
  /** Encoding of `data`. */
  readonly encoding: number;
  readonly data: Uint8Array;
  /** Undefined if all values are null. */
  readonly bounds: Bounds | undefined;
}

/** A column of a batch as data pages. */
export interface EncodedPages {
  readonly pages: readonly EncodedPage[];
  /** Size in PLAIN encoding, in bytes. */
  readonly plainBytes: number;
}

/** Maximum size of a page: readers decode a whole page for a single row. */
const PAGE = { rows: 20_480, bytes: 2 ** 20 } as const;

/** The distinct values of a column so far; `isClosed` when a dictionary no longer pays off. */
export class ColumnDictionary {
  readonly bytes: ByteDictionary | undefined;
  readonly words: WordDictionary | undefined;
  isClosed = false;
  readonly #column: ColumnDef;

  constructor(column: ColumnDef) {
    const { physical } = kinds[column.kind];
    const free = freeDictionaries.get(column)?.pop();
    this.#column = column;
    this.bytes = free?.bytes;
    this.words = free?.words;
    if (free !== undefined || physical === 'bool') return;
    if (physical === 'utf8' || physical === 'binary') this.bytes = new ByteDictionary();
    else this.words = new WordDictionary(wordsOf[physical]);
  }

  get size(): number {
    return (this.bytes ?? this.words)?.size ?? 0;
  }

  /**
   * Adds the entries of another dictionary, in PLAIN encoding.
   *
   * @returns the position of each, valid until the next call for any column; undefined if there is no space for them
   */
  merge(entries: Uint8Array, count: number): Int32Array | undefined {
    return addTo(this, count, () => {
      if (this.bytes !== undefined) return this.bytes.add(decodeEntries(entries, count), true);
      return this.words?.add(new Int32Array(new Uint8Array(entries).buffer), true);
    });
  }

  /** Bit width of a position. */
  get bits(): number {
    return (this.bytes ?? this.words)?.bits ?? 1;
  }

  /** All values in PLAIN encoding. */
  encode(arena: Arena): Uint8Array {
    return this.bytes?.encode(arena) ?? this.words?.values() ?? new Uint8Array(0);
  }

  /** Returns its memory for the next dictionary of this column. The last call. */
  release(): void {
    this.bytes?.reset();
    this.words?.reset();
    const { bytes, words } = this;
    freeDictionaries.set(this.#column, [...(freeDictionaries.get(this.#column) ?? []), { bytes, words }]);
  }
}

/** Free memory by column: if columns shared it, all of it would grow to the size of the largest. */
let freeDictionaries = new WeakMap<ColumnDef, Pick<ColumnDictionary, 'bytes' | 'words'>[]>();

/** Returns the memory of dictionaries that are not in use. */
export function dropFreeDictionaries(): void {
  freeDictionaries = new WeakMap();
}

const wordsOf = { int32: 1, int64: 2, decimal128: 4 } as const;

/** Encodes a column of a batch, with a dictionary if it pays off. */
export function encodePages(vector: Vector, rows: number, dictionary: ColumnDictionary, arena: Arena): EncodedPages {
  const { physical } = kinds[vector.column.kind];
  if (physical === 'bool') return encodeBitPages(vector, rows, arena);
  if (physical === 'utf8' || physical === 'binary') return encodeBytePages(vector, rows, dictionary, arena);
  return encodeNumberPages(physical, vector, rows, dictionary, arena);
}

function encodeBitPages(vector: Vector, rows: number, arena: Arena): EncodedPages {
  const bytes = (rows + 7) >> 3;
  const pages = planPages(vector, rows, bytes).map((range) => {
    const data = encodeBits(vector, range, arena);
    return plain(range, data, boundsOfBits(data, range.to - range.from - range.nulls));
  });
  return { pages, plainBytes: bytes };
}

function encodeBytePages(vector: Vector, rows: number, dictionary: ColumnDictionary, arena: Arena): EncodedPages {
  const values = byteValues(vector, rows, arena);
  const plainBytes = plainSize(values);
  const { bytes } = dictionary;
  const positions = addTo(dictionary, values.count, () => bytes?.add(values));
  if (positions === undefined || bytes === undefined) {
    const pages = withValues(planPages(vector, rows, plainBytes), (range, from, to) => {
      const own = slice(values, from, to);
      return plain(range, encodePlain(own, arena), boundsOfBytes(own));
    });
    return { pages, plainBytes };
  }
  const pages = withValues(planPages(vector, rows, 0), (range, from, to) => {
    const isAll = bytes.isOfOneBatch && to - from === values.count;
    const bounds = boundsOfBytes(bytes.values(), isAll ? undefined : entriesIn(positions, from, to, bytes.size));
    return {
      ...range,
      encoding: encodings.dictionary,
      data: encodeIndices(positions, from, to, bytes.bits, arena),
      bounds,
    };
  });
  return { pages, plainBytes };
}

function encodeNumberPages(
  physical: Numeric,
  vector: Vector,
  rows: number,
  dictionary: ColumnDictionary,
  arena: Arena,
): EncodedPages {
  const values = encodeNumbers(physical, vector, rows, arena);
  const plainBytes = values.length;
  const { words } = dictionary;
  const asWords = new Int32Array(values.buffer, values.byteOffset, plainBytes >> 2);
  const positions = addTo(dictionary, asWords.length, () => words?.add(asWords));
  const width = wordsOf[physical] * 4;
  if (positions === undefined || words === undefined) {
    const pages = withValues(planPages(vector, rows, plainBytes), (range, from, to) => {
      const own = values.subarray(from * width, to * width);
      return plain(range, own, boundsOfNumbers(physical, own, to - from));
    });
    return { pages, plainBytes };
  }
  const pages = withValues(planPages(vector, rows, 0), (range, from, to) => {
    const isAll = words.isOfOneBatch && (to - from) * width === plainBytes;
    const used = isAll ? words.values() : words.pick(entriesIn(positions, from, to, words.size), arena);
    const bounds = boundsOfNumbers(physical, used, used.length / width);
    return {
      ...range,
      encoding: encodings.dictionary,
      data: encodeIndices(positions, from, to, words.bits, arena),
      bounds,
    };
  });
  return { pages, plainBytes };
}

/** Positions of the values in the dictionary; undefined without values, or if a dictionary does not pay off. */
function addTo(dictionary: ColumnDictionary, count: number, add: () => Int32Array | undefined): Int32Array | undefined {
  if (dictionary.isClosed || count === 0) return undefined;
  const positions = add();
  dictionary.isClosed = positions === undefined;
  return positions;
}

/** Pages with about the same number of rows, a multiple of 8 except for the last. */
function planPages(vector: Vector, rows: number, bytes: number): readonly RowRange[] {
  const count = Math.max(1, Math.ceil(rows / PAGE.rows), Math.ceil(bytes / PAGE.bytes));
  const size = Math.ceil(rows / count / 8) * 8;
  const ranges: RowRange[] = [];
  for (let from = 0; from < rows; from += size) {
    const to = Math.min(from + size, rows);
    ranges.push({ from, to, nulls: countNulls(vector, from, to) });
  }
  return ranges;
}

/** Encodes each range with its positions among the non-null values. */
function withValues(
  ranges: readonly RowRange[],
  encode: (range: RowRange, from: number, to: number) => EncodedPage,
): readonly EncodedPage[] {
  let from = 0;
  return ranges.map((range) => {
    const to = from + range.to - range.from - range.nulls;
    const page = encode(range, from, to);
    from = to;
    return page;
  });
}

function slice({ offsets, bytes }: ByteValues, from: number, to: number): ByteValues {
  return { count: to - from, offsets: offsets.subarray(from, to + 1), bytes };
}

function plain(range: RowRange, data: Uint8Array, bounds: Bounds | undefined): EncodedPage {
  return { ...range, encoding: encodings.plain, data, bounds };
}
