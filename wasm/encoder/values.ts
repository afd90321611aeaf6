import { bitAt, setBit } from '../kernel/bits';
import { Block, fit, newBlock } from '../kernel/memory';
import { putVarint } from './bytes';
import { DECIMAL, Kind, widthOf } from './kind';

/** Numbers, or offsets of texts, of the rows that are not null. */
const dense: Block = newBlock();

/** Bytes of a page's levels at most. */
export function roomForLevels(rows: u32): usize {
  return 10 + ((<usize>rows + 7) >> 3);
}

/** Definition levels of an optional column: Arrow's validity bitmap is their bit-packed form. `from` is a multiple of 8. */
export function encodeLevels(validity: usize, from: u32, to: u32, nulls: u32, out: usize): usize {
  const rows = to - from;
  const bitmap = (rows + 7) >> 3;
  let at = out + 4;
  if (nulls == 0 || nulls == rows) {
    at = putVarint(at, rows * 2);
    store<u8>(at++, <u8>(nulls == 0));
  } else {
    at = putVarint(at, bitmap * 2 + 1);
    memory.copy(at, validity + (from >> 3), bitmap);
    at += bitmap;
  }
  store<u32>(out, <u32>(at - out - 4));
  return at;
}

/** Number of null rows from `from` (a multiple of 8) to before `to`. */
export function countNulls(validity: usize, from: u32, to: u32): u32 {
  let set: u32 = 0;
  let row = from;
  for (; row + 8 <= to; row += 8) set += <u32>popcnt<u32>(load<u8>(validity + (row >> 3)));
  for (; row < to; row++) set += <u32>bitAt(validity, row);
  return to - from - set;
}

/** PLAIN encoding of the booleans that are not null: one bit each. */
export function encodeBits(validity: usize, values: usize, from: u32, to: u32, nulls: u32, out: usize): usize {
  if (nulls == 0) {
    const bytes = (to - from + 7) >> 3;
    memory.copy(out, values + (from >> 3), bytes);
    return out + bytes;
  }
  const bytes = (to - from - nulls + 7) >> 3;
  memory.fill(out, 0, bytes);
  let at: u32 = 0;
  for (let row = from; row < to; row++) {
    if (!bitAt(validity, row)) continue;
    if (bitAt(values, row)) setBit(out, at);
    at++;
  }
  return out + bytes;
}

/** PLAIN encoding of the numbers that are not null. Parquet's decimals are big-endian, Arrow's are little-endian. */
export function denseNumbers(kind: Kind, validity: usize, values: usize, rows: u32, nulls: u32): usize {
  if (nulls == 0 && kind != DECIMAL) return values;
  const width: usize = widthOf(kind);
  const out = fit(dense, <usize>(rows - nulls) * width);
  let to = out;
  for (let row: u32 = 0; row < rows; row++) {
    if (nulls > 0 && !bitAt(validity, row)) continue;
    const at = values + <usize>row * width;
    if (width == 4) store<u32>(to, load<u32>(at));
    else if (width == 8) store<u64>(to, load<u64>(at));
    else {
      store<u64>(to, bswap(load<u64>(at, 8)));
      store<u64>(to, bswap(load<u64>(at)), 8);
    }
    to += width;
  }
  return out;
}

/** Offsets of the texts that are not null; null rows have no bytes. */
export function denseOffsets(validity: usize, offsets: usize, rows: u32, nulls: u32): usize {
  if (nulls == 0) return offsets;
  const out = fit(dense, (<usize>(rows - nulls) + 1) << 2);
  let to = out;
  for (let row: u32 = 0; row < rows; row++) {
    if (!bitAt(validity, row)) continue;
    store<u32>(to, load<u32>(offsets + ((<usize>row) << 2)));
    to += 4;
  }
  store<u32>(to, load<u32>(offsets + ((<usize>rows) << 2)));
  return out;
}

/** Moves texts in PLAIN encoding together. @returns their offsets */
export function unpackTexts(values: usize, count: u32): usize {
  const out = fit(dense, (<usize>count + 1) << 2);
  let at = values;
  let to = values;
  for (let i: usize = 0; i < count; i++) {
    const length: usize = load<u32>(at);
    store<u32>(out + (i << 2), <u32>(to - values));
    memory.copy(to, at + 4, length);
    at += length + 4;
    to += length;
  }
  store<u32>(out + ((<usize>count) << 2), <u32>(to - values));
  return out;
}

export function encodeTexts(values: usize, offsets: usize, from: u32, to: u32, out: usize): usize {
  let at = out;
  for (let i: usize = from; i < to; i++) {
    const own = load<u32>(offsets + (i << 2));
    const length: usize = load<u32>(offsets + (i << 2), 4) - own;
    store<u32>(at, <u32>length);
    memory.copy(at + 4, values + own, length);
    at += length + 4;
  }
  return at;
}

/** Bytes that `encodeIndices` needs at most: each group of eight values needs a header and its bits, or a run a header and its value. */
export function roomForIndices(count: u32, bits: u32): usize {
  return 1 + ((<usize>count >> 3) + 2) * (<usize>bits + 8);
}

function positionAt(positions: usize, i: u32): u32 {
  return load<u32>(positions + ((<usize>i) << 2));
}

/** Bit width, then positions in Parquet's RLE/bit-packing hybrid: the data page after its levels. @returns the position after them */
export function encodeIndices(positions: usize, from: u32, to: u32, bits: u32, out: usize): usize {
  store<u8>(out, <u8>bits);
  let at = out + 1;
  let literal = from;
  let row = from;
  while (row < to) {
    const value = positionAt(positions, row);
    let end = row + 1;
    while (end < to && positionAt(positions, end) == value) end++;
    if (end - row < 8) {
      row += 8;
      continue;
    }
    at = encodeGroups(positions, literal, row, bits, at);
    at = putVarint(at, (end - row) * 2);
    for (let shift: u32 = 0; shift < bits; shift += 8) store<u8>(at++, <u8>(value >> shift));
    row = end;
    literal = row;
  }
  return encodeGroups(positions, literal, to, bits, at);
}

/** Packs the values from `from` to before `to` in groups of eight, least significant bits first; the last is padded with zeros. */
function encodeGroups(positions: usize, from: u32, to: u32, bits: u32, out: usize): usize {
  if (from == to) return out;
  const groups = (to - from + 7) >> 3;
  let at = putVarint(out, groups * 2 + 1);
  let pending: u64 = 0;
  let pendingBits: u32 = 0;
  const end = from + groups * 8;
  for (let row = from; row < end; row++) {
    if (row < to) pending |= (<u64>positionAt(positions, row)) << pendingBits;
    pendingBits += bits;
    while (pendingBits >= 8) {
      store<u8>(at++, <u8>pending);
      pending >>= 8;
      pendingBits -= 8;
    }
  }
  return at;
}
