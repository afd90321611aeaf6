// Reads a bag of cells into the table of cells. A malformed bag ends in one of the codes below, never in a trap. Reads stay inside the bag,
// except that `stage` may load up to 15 bytes after it, which do not matter; so some bytes after the bag must be memory.

import {
  awaitHash,
  cellAt,
  depthAbove,
  dropCells,
  MAX_DEPTH,
  NONE,
  reserveCells,
  setContent,
  setDepth,
  setRef,
  setShape,
} from './cell-table';
import { hashLevels, Levels } from './levels';

/** Magic number, flags, widths, counts or total size. */
export const BAD_HEADER: i32 = -1;
/** Not exactly one root, or absent cells. */
export const BAD_ROOTS: i32 = -2;
/** Descriptor, length or completion tag of a cell. */
export const BAD_CELL: i32 = -3;
/** A reference that does not point forwards to a cell of the bag. */
export const BAD_ORDER: i32 = -4;
/** A special cell that is not as its type demands, levels that its cells do not have, or stored hashes. */
export const EXOTIC_CELL: i32 = -5;
/** Deeper than MAX_DEPTH. */
export const TOO_DEEP: i32 = -6;
/** More cells than a bag may have, or than there is room for. */
export const TOO_LARGE: i32 = -7;
const MAX_BAG_CELLS: u64 = 1 << 20;
/** A checksum that is not that of the bytes before it. */
export const BAD_CHECKSUM: i32 = -8;

/** CRC-32C of each byte. */
const crcOfByte: usize = memory.data(256 * 4, 16);

/** Fills the table of checksums. */
export function bagsInit(): void {
  for (let byte: u32 = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78 : 0);
    store<u32>(crcOfByte + ((<usize>byte) << 2), crc);
  }
}

function crc32c(at: usize, end: usize): u32 {
  let crc: u32 = 0xffffffff;
  for (; at < end; at++) crc = (crc >> 8) ^ load<u32>(crcOfByte + ((<usize>((crc ^ <u32>load<u8>(at)) & 255)) << 2));
  return ~crc;
}

/** An unsigned big-endian number of 1 to 8 bytes. */
function bigEndian(at: usize, bytes: usize): u64 {
  let value: u64 = 0;
  for (let i: usize = 0; i < bytes; i++) value = (value << 8) | <u64>load<u8>(at + i);
  return value;
}

/** Reads the bag in `size` bytes at `at`, and lets its cells wait for their hashes, or hashes them. Returns the index of its root, or a code. */
export function readBag(at: usize, size: usize): i32 {
  const end = at + size;
  // magic, flags and width of a reference, width of an offset; then counts of cells, roots and absent cells, size of the cells, root
  if (size < 11 || bswap(load<u32>(at)) != 0xb5ee9c72) return BAD_HEADER;
  const flags = <u32>load<u8>(at, 4);
  const width: usize = flags & 7;
  const offset: usize = load<u8>(at, 5);
  if ((flags & 0x18) != 0 || width < 1 || width > 4 || offset < 1 || offset > 8) return BAD_HEADER;
  // Cache bits need an index.
  if ((flags & 0xa0) == 0x20) return BAD_HEADER;
  let from = at + 6;
  if (<usize>(end - from) < width * 4 + offset) return BAD_HEADER;
  const count = bigEndian(from, width);
  const roots = bigEndian(from + width, width);
  const absent = bigEndian(from + 2 * width, width);
  const total = bigEndian(from + 3 * width, offset);
  const root = bigEndian(from + 3 * width + offset, width);
  from += width * 4 + offset;
  if (roots != 1 || absent != 0) return BAD_ROOTS;
  const left: u64 = end - from;
  if (root >= count || total > left || count * 2 > total) return BAD_HEADER;
  const index: u64 = (flags & 0x80) != 0 ? count * offset : 0;
  if (index + total + ((flags & 0x40) != 0 ? 4 : 0) != left) return BAD_HEADER;
  if ((flags & 0x40) != 0 && crc32c(at, end - 4) != load<u32>(end - 4)) return BAD_CHECKSUM;
  from += <usize>index;

  const first = count > MAX_BAG_CELLS ? NONE : reserveCells(<u32>count);
  if (first == NONE) return TOO_LARGE;
  hasLevels = false;
  let code = readCells(from, from + <usize>total, first, <u32>count, width);
  if (code == 0) code = hasLevels ? hashAll(first, <u32>count) : setDepths(first, <u32>count);
  if (code < 0) {
    dropCells(first);
    return code;
  }
  if (!hasLevels) for (let i: u32 = 0; i < <u32>count; i++) awaitHash(first + i);
  return <i32>(first + <u32>root);
}

/** True if the bag has special cells other than references to libraries. Its cells cannot wait for their hashes by depth. */
let hasLevels: bool = false;

function hashAll(first: u32, count: u32): i32 {
  const outcome = hashLevels(first, count);
  dropCells(first + count);
  if (outcome == Levels.malformed) return EXOTIC_CELL;
  if (outcome == Levels.tooDeep) return TOO_DEEP;
  return outcome == Levels.tooLarge ? TOO_LARGE : 0;
}

/** Fills `count` entries from the bytes up to `end`. */
function readCells(from: usize, end: usize, first: u32, count: u32, width: usize): i32 {
  for (let i: u32 = 0; i < count; i++) {
    if (<usize>(end - from) < 2) return BAD_CELL;
    const d1 = <u32>load<u8>(from);
    const d2 = <u32>load<u8>(from, 1);
    const refs = d1 & 7;
    const bytes: usize = (d2 + 1) >> 1;
    if (refs > 4 || <usize>(end - from) < 2 + bytes + <usize>refs * width) return BAD_CELL;
    if ((d1 & 0xf8) != 0) {
      if ((d1 & 0x10) != 0) return EXOTIC_CELL;
      // Of the special cells, only a reference to a library has the hash of an ordinary cell.
      if (d1 != 8 || d2 != 66 || load<u8>(from, 2) != 2) hasLevels = true;
    }
    let bits = d2 << 2;
    if ((d2 & 1) != 0) {
      // The last byte ends in a one and zeros, which are no data.
      const last = <u32>load<u8>(from + 1 + bytes);
      if ((last & 0x7f) == 0) return BAD_CELL;
      bits = ((<u32>bytes) << 3) - ctz(last) - 1;
    }
    const cell = cellAt(first + i);
    setContent(cell, from);
    setShape(cell, bits, refs);
    from += 2 + bytes;
    for (let k: u32 = 0; k < refs; k++, from += width) {
      const to = bigEndian(from, width);
      if (to <= i || to >= count) return BAD_ORDER;
      setRef(cell, k, first + <u32>to);
    }
  }
  return from == end ? 0 : BAD_CELL;
}

/** Children come after their parents, so backwards is children first. */
function setDepths(first: u32, count: u32): i32 {
  for (let i = count; i-- > 0; ) {
    const cell = cellAt(first + i);
    const depth = depthAbove(cell);
    if (depth > MAX_DEPTH) return TOO_DEEP;
    setDepth(cell, depth);
  }
  return 0;
}
