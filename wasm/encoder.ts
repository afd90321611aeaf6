// AssemblyScript: columns in Arrow's layout to the pages of Parquet files, before compression. Exported functions take and return addresses.

import { addHashes, fillFilter } from './encoder/bloom';
import { bounds, boundsOfBits, boundsOfEntries, boundsOfNumbers, boundsOfTexts } from './encoder/bounds';
import { addValues, bitsOf, Dictionary, dropDictionary, newDictionary, positions } from './encoder/dictionary';
import { BOOL, Kind, TEXT, widthOf } from './encoder/kind';
import {
  countNulls,
  denseNumbers,
  denseOffsets,
  encodeBits,
  encodeIndices,
  encodeLevels,
  encodeTexts,
  roomForIndices,
  roomForLevels,
  unpackTexts,
} from './encoder/values';
import { Block, dropBlock, fit, newBlock, push, release, takeZeros } from './kernel/memory';

export { setLimit } from './kernel/memory';

/** Encodings of the format. */
const PLAIN: u32 = 0;
const DICTIONARY: u32 = 8;

/** Maximum size of a page: readers decode a whole page for a single row. */
const PAGE_ROWS: u32 = 20480;
const PAGE_BYTES: usize = 1 << 20;

/** A column chunk: state shared by its pages. */
@unmanaged
class Chunk {
  kind: Kind;
  /** False for one page of all rows, without dictionary and bounds. */
  isFinal: bool;
  hasFilter: bool;
  /** True if there is no dictionary, or it no longer pays off. */
  isClosed: bool;
  dictionary: Dictionary;
  /** Of values for the Bloom filter. */
  hashes: Block;
}

/** A page: its levels and values in PLAIN encoding, or positions in the dictionary. */
@unmanaged
class Page {
  rows: u32;
  nulls: u32;
  encoding: u32;
  at: usize;
  size: usize;
  /** 0 without values, or without bounds. */
  min: usize;
  minLength: usize;
  max: usize;
  maxLength: usize;
}

/** What the caller wrote: columns, or values. */
const input: Block = newBlock();
const output: Block = newBlock();
const pages: Block = newBlock();
let plainBytes: usize = 0;

/** Space for bytes of the caller. */
export function roomFor(bytes: usize): usize {
  return fit(input, bytes);
}

export function newChunk(kind: Kind, isFinal: bool, hasFilter: bool): Chunk {
  const chunk = changetype<Chunk>(takeZeros(offsetof<Chunk>()));
  chunk.kind = kind;
  chunk.isFinal = isFinal;
  chunk.hasFilter = hasFilter;
  chunk.isClosed = !isFinal || kind == BOOL;
  chunk.dictionary = newDictionary(widthOf(kind));
  chunk.hashes = newBlock();
  return chunk;
}

export function dropChunk(chunk: Chunk): void {
  dropDictionary(chunk.dictionary);
  dropBlock(chunk.hashes);
  release(changetype<usize>(chunk), offsetof<Chunk>());
}

/**
 * Encodes a column as pages.
 *
 * @param values of texts, the address that offsets are relative to
 * @returns the number of pages
 */
export function encode(chunk: Chunk, rows: u32, nulls: u32, validity: usize, offsets: usize, values: usize): u32 {
  const kind = chunk.kind;
  const count = rows - nulls;
  let data = values;
  let dense: usize = 0;
  plainBytes = (<usize>rows + 7) >> 3;
  if (kind == TEXT) {
    dense = denseOffsets(validity, offsets, rows, nulls);
    plainBytes = ((<usize>count) << 2) + load<u32>(dense + ((<usize>count) << 2)) - load<u32>(dense);
  } else if (kind != BOOL) {
    data = denseNumbers(kind, validity, values, rows, nulls);
    plainBytes = <usize>count * widthOf(kind);
  }
  const hasDictionary = !chunk.isClosed && count > 0 && addValues(chunk.dictionary, data, dense, count, false);
  if (count > 0 && !hasDictionary) chunk.isClosed = true;
  pages.size = 0;
  output.size = 0;
  let levelBytes: usize = 0;
  let first: u32 = 0;
  const step = chunk.isFinal ? pageRows(rows, hasDictionary ? 0 : plainBytes) : rows;
  for (let from: u32 = 0; from < rows; from += step) {
    const to = min(from + step, rows);
    const page = changetype<Page>(push(pages, offsetof<Page>()));
    page.rows = to - from;
    page.nulls = nulls == 0 ? 0 : countNulls(validity, from, to);
    page.encoding = hasDictionary ? DICTIONARY : PLAIN;
    const last = first + page.rows - page.nulls;
    const bits = bitsOf(chunk.dictionary);
    const most = hasDictionary ? roomForIndices(last - first, bits) : plainBytes;
    const start = fit(output, output.size + roomForLevels(page.rows) + most) + output.size;
    const begin = encodeLevels(validity, from, to, page.nulls, start);
    let end: usize;
    if (hasDictionary) end = encodeIndices(positions.at, first, last, bits, begin);
    else if (kind == BOOL) end = encodeBits(validity, values, from, to, page.nulls, begin);
    else if (kind == TEXT) end = encodeTexts(data, dense, first, last, begin);
    else {
      const width: usize = widthOf(kind);
      end = begin + <usize>(last - first) * width;
      memory.copy(begin, data + <usize>first * width, end - begin);
    }
    if (chunk.hasFilter && !hasDictionary) addHashes(chunk.hashes, begin, last - first, widthOf(kind));
    page.at = output.size;
    page.size = end - start;
    page.min = 0;
    if (chunk.isFinal && boundsOfPage(chunk, hasDictionary, begin, data, dense, first, last)) {
      page.min = bounds.min;
      page.minLength = bounds.minLength;
      page.max = bounds.max;
      page.maxLength = bounds.maxLength;
    }
    output.size += page.size;
    levelBytes += begin - start;
    first = last;
  }
  plainBytes += levelBytes;
  const made = <u32>(pages.size / offsetof<Page>());
  for (let i: u32 = 0; i < made; i++) changetype<Page>(pages.at + <usize>i * offsetof<Page>()).at += output.at;
  return made;
}

/** Rows of pages of about the same number of rows, a multiple of 8. */
function pageRows(rows: u32, bytes: usize): u32 {
  const byBytes = <u32>((bytes + PAGE_BYTES - 1) / PAGE_BYTES);
  const count = max<u32>(max<u32>(1, (rows + PAGE_ROWS - 1) / PAGE_ROWS), byBytes);
  return ((rows + count * 8 - 1) / (count * 8)) * 8;
}

function boundsOfPage(
  chunk: Chunk,
  hasDictionary: bool,
  begin: usize,
  data: usize,
  dense: usize,
  first: u32,
  last: u32,
): bool {
  const kind = chunk.kind;
  if (hasDictionary) return boundsOfEntries(kind, chunk.dictionary, positions.at, first, last);
  if (kind == BOOL) return boundsOfBits(begin, last - first);
  if (kind == TEXT) return boundsOfTexts(kind, data, dense, first, last);
  const width = widthOf(kind);
  return boundsOfNumbers(kind, data + <usize>first * width, width, last - first);
}

export function pagesAt(): usize {
  return pages.at;
}

/** Size in PLAIN encoding, with levels, of the column that was encoded last. */
export function plainSize(): usize {
  return plainBytes;
}

/** Adds the entries of another dictionary, in PLAIN encoding at `roomFor`. @returns their positions; 0 if there is no space for them */
export function mergeEntries(chunk: Chunk, count: u32): usize {
  if (chunk.isClosed || count == 0) return 0;
  const offsets = chunk.kind == TEXT ? unpackTexts(input.at, count) : 0;
  chunk.isClosed = !addValues(chunk.dictionary, input.at, offsets, count, true);
  return chunk.isClosed ? 0 : positions.at;
}

/** Encodes positions in the dictionary, which were written to `roomFor`. @returns their size */
export function packPositions(chunk: Chunk, count: u32): usize {
  const bits = bitsOf(chunk.dictionary);
  const out = fit(output, roomForIndices(count, bits));
  return encodeIndices(input.at, 0, count, bits, out) - out;
}

export function outputAt(): usize {
  return output.at;
}

/** Adds values in PLAIN encoding, at `roomFor`, to the Bloom filter. */
export function addToFilter(chunk: Chunk, count: u32): void {
  addHashes(chunk.hashes, input.at, count, widthOf(chunk.kind));
}

/** Adds the values of the dictionary to the Bloom filter, if there is one. @returns the number of its values */
export function closeDictionary(chunk: Chunk): u32 {
  const dictionary = chunk.dictionary;
  if (chunk.hasFilter) addHashes(chunk.hashes, dictionary.values.at, dictionary.size, widthOf(chunk.kind));
  return dictionary.size;
}

export function dictionaryAt(chunk: Chunk): usize {
  return chunk.dictionary.values.at;
}

export function dictionaryBytes(chunk: Chunk): usize {
  return chunk.dictionary.values.size;
}

/** Number of values in the Bloom filter. */
export function filterCount(chunk: Chunk): u32 {
  return <u32>(chunk.hashes.size >> 3);
}

/** The Bloom filter as `bytes` bytes, a power of two. */
export function encodeFilter(chunk: Chunk, bytes: usize): usize {
  const at = fit(output, bytes);
  memory.fill(at, 0, bytes);
  fillFilter(chunk.hashes, at, bytes);
  return at;
}
