import type { ColumnDef } from '../declare/column.ts';
import { kinds, type Physical } from '../declare/kind.ts';
import { makeVector, type Vector } from '../decode/batch.ts';
import { copyBytes } from '../decode/bytes.ts';
import { encodings, pageKinds } from './page-header.ts';
import { type Fields, numberOf, structOf, ThriftReader } from './read-thrift.ts';
import type { Decompress } from './zstd.ts';

/** Bytes of a fixed-size value. */
const widthOf = { int32: 4, int64: 8, decimal128: 16 } as const;
/** Free bytes after values, because copies of values write whole words. */
const SLACK = 8;

/** A data page, decompressed. */
interface DataPage {
  readonly rows: number;
  readonly encoding: number;
  readonly levels: Uint8Array;
  readonly values: Uint8Array;
  /** Number of values that are not null; set by `decodeLevels`. */
  present: number;
}

interface Pages {
  readonly data: readonly DataPage[];
  /** All entries in PLAIN encoding; empty for none. */
  readonly dictionary: Uint8Array;
  readonly entries: number;
}

/** Where the pages of a column chunk are. */
interface PagesPlace {
  readonly offset: number;
  readonly bytes: number;
  readonly rows: number;
}

/**
 * Decodes an optional column of PLAIN and dictionary pages, as this folder and DuckDB write them. Without `decompress`, pages are not
 * compressed.
 *
 * @throws {RangeError} for other encodings and page types
 */
export function decodeColumn(column: ColumnDef, file: Uint8Array, place: PagesPlace, decompress?: Decompress): Vector {
  const { physical } = kinds[column.kind];
  const pages = readPages(file, place, decompress);
  const validity = new Uint8Array((place.rows + 7) >> 3);
  const present = decodeLevels(pages.data, validity);
  const nullity = { column, nullCount: place.rows - present, validity };
  if (physical === 'bool') return makeVector(nullity, undefined, decodeBits(pages, place.rows, validity));
  if (physical === 'utf8' || physical === 'binary') {
    const { offsets, values } = decodeBytes(pages, place.rows, validity);
    return makeVector(nullity, offsets, values);
  }
  return makeVector(nullity, undefined, decodeNumbers(physical, pages, place.rows, validity));
}

/** A page as it is in the file. */
export interface StoredPage {
  readonly header: Fields;
  /** Position after the page. */
  readonly end: number;
  /** Size with header, uncompressed. */
  readonly rawBytes: number;
  readonly packed: Uint8Array;
}

/** The page at a position. */
export function readPage(file: Uint8Array, at: number): StoredPage {
  const reader = new ThriftReader(file, at);
  const header = reader.struct();
  const end = reader.at + numberOf(header, 3);
  return { header, end, rawBytes: reader.at - at + numberOf(header, 2), packed: file.subarray(reader.at, end) };
}

/** The content of a page before compression. */
export function unpack({ header, packed }: StoredPage, decompress: Decompress | undefined): Uint8Array {
  return decompress?.(packed, numberOf(header, 2)) ?? packed;
}

/** Encoding of a data page. */
export function encodingOf({ header }: StoredPage): number {
  return numberOf(structOf(header, 5), 2);
}

/** Splits the content of a data page. */
export function splitLevels(content: Uint8Array): { readonly levels: Uint8Array; readonly values: Uint8Array } {
  const end = 4 + viewOf(content).getUint32(0, true);
  return { levels: content.subarray(0, end), values: content.subarray(end) };
}

/** Number of entries of a dictionary page. */
export function entriesOf({ header }: StoredPage): number {
  return numberOf(structOf(header, 7), 1);
}

function readPages(file: Uint8Array, { offset, bytes }: PagesPlace, decompress: Decompress | undefined): Pages {
  const data: DataPage[] = [];
  let dictionary: Uint8Array = new Uint8Array(0);
  let entries = 0;
  for (let at = offset; at < offset + bytes; ) {
    const page = readPage(file, at);
    at = page.end;
    const content = unpack(page, decompress);
    if (numberOf(page.header, 1) === pageKinds.dictionary) {
      dictionary = content;
      entries = entriesOf(page);
    } else {
      const rows = numberOf(structOf(page.header, 5), 1);
      data.push({ ...splitLevels(content), rows, encoding: encodingOf(page), present: 0 });
    }
  }
  return { data, dictionary, entries };
}

/** Sets the bits of the rows that are not null. @returns their number */
function decodeLevels(pages: readonly DataPage[], validity: Uint8Array): number {
  let row = 0;
  for (const page of pages) {
    if (isOneRun(page) && row % 8 === 0) {
      // Bits after the last row of the column stay unused.
      validity.fill(0xff, row >> 3, (row + page.rows + 7) >> 3);
      if (row + page.rows < validity.length << 3) validity[(row + page.rows) >> 3] = (1 << ((row + page.rows) & 7)) - 1;
      page.present = page.rows;
      row += page.rows;
      continue;
    }
    const flags = decodeHybrid(page.levels.subarray(4), 1, page.rows);
    for (let at = 0; at < page.rows; at++, row++) {
      if (flags[at] !== 1) continue;
      validity[row >> 3] = (validity[row >> 3] as number) | (1 << (row & 7));
      page.present++;
    }
  }
  return pages.reduce((sum, { present }) => sum + present, 0);
}

/** True if all rows are present, by a single run. */
function isOneRun({ rows, levels }: DataPage): boolean {
  let [at, header] = [4, 0];
  for (let unit = 1; at < levels.length; unit *= 128) {
    const byte = levels[at++] as number;
    header += (byte & 127) * unit;
    if (byte < 128) break;
  }
  return header === rows * 2 && levels[at] === 1;
}

/** Numbers in Parquet's RLE/bit-packing hybrid. */
function decodeHybrid(bytes: Uint8Array, bits: number, count: number): Int32Array {
  const out = new Int32Array(count + 7);
  const mask = 2 ** bits - 1;
  let at = 0;
  let done = 0;
  while (done < count) {
    let header = 0;
    for (let unit = 1; ; unit *= 128) {
      const byte = bytes[at++];
      if (byte === undefined) throw new RangeError('the page has fewer values than its header says');
      header += (byte & 127) * unit;
      if (byte < 128) break;
    }
    if (header % 2 === 0) {
      let value = 0;
      for (let shift = 0; shift < bits; shift += 8) value |= (bytes[at++] as number) << shift;
      const end = Math.min(count, done + header / 2);
      out.fill(value, done, end);
      done = end;
      continue;
    }
    // At most 7 bits remain of a byte, and a position has at most 24.
    let pending = 0;
    let pendingBits = 0;
    const groups = (header - 1) / 2;
    const end = Math.min(count, done + groups * 8);
    const next = at + groups * bits;
    for (; done < end; done++) {
      for (; pendingBits < bits; pendingBits += 8) pending |= (bytes[at++] as number) << pendingBits;
      out[done] = pending & mask;
      pending >>>= bits;
      pendingBits -= bits;
    }
    at = next;
  }
  return out;
}

/** Positions in the dictionary: bit width, then the hybrid. */
export function decodeIndices({ values, present }: Pick<DataPage, 'values' | 'present'>): Int32Array {
  return decodeHybrid(values.subarray(1), values[0] ?? 0, present);
}

function decodeBits({ data }: Pages, rows: number, validity: Uint8Array): Uint8Array {
  const out = new Uint8Array((rows + 7) >> 3);
  let row = 0;
  for (const page of data) {
    if (!isPlain(page)) throw new RangeError('expected booleans without a dictionary');
    let at = 0;
    for (const end = row + page.rows; row < end; row++) {
      if (isSet(validity, row) && isSet(page.values, at++)) {
        out[row >> 3] = (out[row >> 3] as number) | (1 << (row & 7));
      }
    }
  }
  return out;
}

function decodeNumbers(
  physical: Exclude<Physical, 'bool' | 'utf8' | 'binary'>,
  { data, dictionary }: Pages,
  rows: number,
  validity: Uint8Array,
): Uint8Array {
  const words = widthOf[physical] / 4;
  const out = new Int32Array(rows * words);
  let row = 0;
  for (const page of data) {
    const indices = isPlain(page) ? undefined : decodeIndices(page);
    if (indices === undefined && page.present === page.rows) {
      const bytes = page.rows * words * 4;
      new Uint8Array(out.buffer, row * words * 4, bytes).set(page.values.subarray(0, bytes));
      row += page.rows;
      continue;
    }
    const source = viewOf(indices === undefined ? page.values : dictionary);
    let at = 0;
    for (const end = row + page.rows; row < end; row++) {
      if (!isSet(validity, row)) continue;
      const from = (indices === undefined ? at : (indices[at] as number)) * words * 4;
      for (let word = 0; word < words; word++) out[row * words + word] = source.getInt32(from + word * 4, true);
      at++;
    }
  }
  // Parquet decimals are big-endian, Arrow's are little-endian.
  return physical === 'decimal128' ? reverseEach(out) : new Uint8Array(out.buffer);
}

function reverseEach(words: Int32Array): Uint8Array {
  const bytes = new Uint8Array(words.buffer);
  for (let at = 0; at < bytes.length; at += 16) bytes.subarray(at, at + 16).reverse();
  return bytes;
}

function decodeBytes(
  { data, dictionary, entries }: Pages,
  rows: number,
  validity: Uint8Array,
): { readonly offsets: Int32Array; readonly values: Uint8Array } {
  const starts = startsOf(dictionary, entries);
  const offsets = new Int32Array(rows + 1);
  const parts: Uint8Array[] = [];
  let row = 0;
  for (const page of data) {
    const end = row + page.rows;
    const isDirect = isPlain(page);
    const positions = isDirect ? startsOf(page.values, page.present) : decodeIndices(page);
    if (!isDirect) for (let at = 0; at < page.present; at++) positions[at] = starts[positions[at] as number] as number;
    parts.push(gather(isDirect ? page.values : dictionary, positions, { from: row, to: end }, validity, offsets));
    row = end;
  }
  return { offsets, values: Buffer.concat([...parts, new Uint8Array(SLACK)]) };
}

/** Copies the values at some positions of PLAIN encoding, one for each row that is not null. */
function gather(
  source: Uint8Array,
  positions: Int32Array,
  { from, to }: { readonly from: number; readonly to: number },
  validity: Uint8Array,
  offsets: Int32Array,
): Uint8Array {
  const view = viewOf(source);
  const base = offsets[from] as number;
  let used = base;
  let at = 0;
  for (let row = from; row < to; row++) {
    if (isSet(validity, row)) used += view.getUint32(positions[at++] as number, true);
    offsets[row + 1] = used;
  }
  const out = new Uint8Array(used - base + SLACK);
  const target = viewOf(out);
  at = 0;
  for (let row = from; row < to; row++) {
    if (!isSet(validity, row)) continue;
    const start = (positions[at++] as number) + 4;
    const [own, length] = [(offsets[row] as number) - base, (offsets[row + 1] as number) - (offsets[row] as number)];
    if (start + length + SLACK > source.length) out.set(source.subarray(start, start + length), own);
    else copyBytes(out, target, own, source, view, start, length);
  }
  return out.subarray(0, used - base);
}

/** Where each of at most `most` values of PLAIN encoding begins. */
function startsOf(values: Uint8Array, most: number): Int32Array {
  const starts = new Int32Array(most);
  const view = viewOf(values);
  let at = 0;
  for (let count = 0; at < values.length && count < most; count++) {
    starts[count] = at;
    at += 4 + view.getUint32(at, true);
  }
  return starts;
}

function isSet(bits: Uint8Array, row: number): boolean {
  return (((bits[row >> 3] as number) >> (row & 7)) & 1) === 1;
}

/** False for positions in a dictionary. */
function isPlain({ encoding }: DataPage): boolean {
  if (encoding === encodings.plain) return true;
  if (encoding === encodings.dictionary || encoding === encodings.oldDictionary) return false;
  throw new RangeError(`expected PLAIN or dictionary pages, got encoding ${encoding}`);
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
