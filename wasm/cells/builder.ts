// Writes the data of one cell at a time, most significant bit first.

import {
  awaitHash,
  bitsOf,
  cellAt,
  contentOf,
  depthAbove,
  NONE,
  refCountOf,
  refOf,
  reserveCells,
  setContent,
  setDepth,
  setRef,
  setShape,
} from './cell-table';

/** Memory of a cell that is built: 2 descriptor bytes, 128 of data, and room for stores of 8 bytes. */
export const ROOM: usize = 144;
const MAX_BITS: u32 = 1023;

let nextRoom: usize = 0;
let endOfRooms: usize = 0;

/** Gives the builder room for its cells. */
export function placeRooms(at: usize, count: usize): void {
  nextRoom = at;
  endOfRooms = at + count * ROOM;
}

/** Reserves `count` entries in a row, with room for their data; NONE if there is none. */
export function reserveBuilt(count: u32): u32 {
  if (<usize>count * ROOM > endOfRooms - nextRoom) return NONE;
  const first = reserveCells(count);
  if (first == NONE) return NONE;
  for (let i: u32 = 0; i < count; i++, nextRoom += ROOM) setContent(cellAt(first + i), nextRoom);
  return first;
}

/** The cell that is being written, where its next 8 bytes go, and the bits that are not stored yet: the low `held` of `bits`. */
let cell: usize = 0;
let index: u32 = 0;
let at: usize = 0;
let bits: u64 = 0;
let held: u32 = 0;
let refs: u32 = 0;
let isMisfit: bool = false;

/** True if something did not fit since `clearMisfit`. */
export function hasMisfit(): bool {
  return isMisfit;
}
export function clearMisfit(): void {
  isMisfit = false;
}
export function setMisfit(): void {
  isMisfit = true;
}

/** Begins a reserved cell, or begins it again. */
export function open(which: u32): void {
  index = which;
  cell = cellAt(which);
  at = contentOf(cell) + 2;
  bits = 0;
  held = 0;
  refs = 0;
}

/** Appends the low `count` bits of a value whose higher bits are 0; at most 64. */
export function put(value: u64, count: u32): void {
  const sum = held + count;
  if (sum < 64) {
    bits = (bits << count) | value;
    held = sum;
    return;
  }
  if (written() + count > MAX_BITS) {
    isMisfit = true;
    return;
  }
  const rest = sum - 64;
  store<u64>(at, bswap((held > 0 ? bits << (64 - held) : 0) | (value >> rest)));
  at += 8;
  bits = value & (((<u64>1) << rest) - 1);
  held = rest;
}

export function putBit(value: bool): void {
  put(value ? 1 : 0, 1);
}

/** An unsigned number; a greater or negative one is a misfit. */
export function putUint(value: i64, count: u32): void {
  if (value < 0 || (count < 63 && value >> count != 0)) isMisfit = true;
  else put(<u64>value, count);
}

/** A signed number of less than 64 bits. */
export function putInt(value: i64, count: u32): void {
  const greatest = ((<i64>1) << (count - 1)) - 1;
  if (value > greatest || value < -greatest - 1) isMisfit = true;
  else put(<u64>value & (((<u64>1) << count) - 1), count);
}

/** A VarUInteger whose length in bytes has `width` bits. */
export function putVarUint(value: u64, width: u32): void {
  const bits = wholeBytes(value);
  putLength(bits >> 3, width);
  put(value, bits);
}

/** A VarUInteger of `count` words in memory, the lowest first. */
export function putVarUints(words: usize, count: u32, width: u32): void {
  let top = count - 1;
  while (top > 0 && load<u64>(words + ((<usize>top) << 3)) == 0) top--;
  const highest = load<u64>(words + ((<usize>top) << 3));
  const bits = wholeBytes(highest);
  putLength((top << 3) + (bits >> 3), width);
  put(highest, bits);
  while (top-- > 0) put(load<u64>(words + ((<usize>top) << 3)), 64);
}

/** Bits of the bytes that a number takes. */
function wholeBytes(value: u64): u32 {
  return (71 - <u32>clz(value)) & 0x78;
}

function putLength(bytes: u32, width: u32): void {
  if (bytes >> width != 0) isMisfit = true;
  else put(bytes, width);
}

/** 32 bytes of memory. */
export function putHash(from: usize): void {
  for (let i: usize = 0; i < 32; i += 8) put(bswap(load<u64>(from + i)), 64);
}

export function putRef(child: u32): void {
  if (refs == 4) isMisfit = true;
  else setRef(cell, refs++, child);
}

/** A Maybe with a reference; NONE for none. */
export function putMaybeRef(child: u32): void {
  putBit(child != NONE);
  if (child != NONE) putRef(child);
}

function written(): u32 {
  return ((<u32>(at - contentOf(cell) - 2)) << 3) + held;
}

/** Appends data and children of a cell. False, and nothing appended, if they do not fit with `more` bits after them. */
export function putSlice(other: u32, more: u32): bool {
  const source = cellAt(other);
  const count = bitsOf(source);
  if (written() + count + more > MAX_BITS || refs + refCountOf(source) > 4) return false;
  let from = contentOf(source) + 2;
  for (let words = count >> 6; words > 0; words--, from += 8) put(bswap(load<u64>(from)), 64);
  const rest = count & 63;
  if (rest > 0) put(bswap(load<u64>(from)) >> (64 - rest), rest);
  for (let k: u32 = 0; k < refCountOf(source); k++) putRef(refOf(source, k));
  return true;
}

/** Ends the cell, which waits for its hash. Returns its index. */
export function close(): u32 {
  const count = written();
  if (count > MAX_BITS) isMisfit = true;
  // The completion tag follows the data; after whole bytes it is no part of the cell.
  store<u64>(at, bswap(held > 0 ? (bits << (64 - held)) | ((<u64>1) << (63 - held)) : (<u64>1) << 63));
  setShape(cell, count, refs);
  store<u8>(contentOf(cell), <u8>refs);
  store<u8>(contentOf(cell), <u8>((count >> 3) + ((count + 7) >> 3)), 1);
  setDepth(cell, depthAbove(cell));
  awaitHash(index);
  return index;
}
