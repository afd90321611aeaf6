// Columns in Arrow's memory layout, as the caller placed them in memory.

import { putVarUint, putVarUints, setMisfit } from '../cells/builder';
import { bitAt } from '../kernel/bits';
import { decodeSixteen, invalidIn } from '../kernel/six-bits';

// A column: number of rows (those after them are null), addresses of validity, offsets (0 unless it has texts or bytes) and values, and bytes
// per row (0 for bits; a flag may have one byte). If the offsets are 1, values are strings of 16 bytes each: length, then up to 12 bytes of
// the text, or 4 of them and its address. A column that is not there has 0 rows.
const ROWS: usize = 0;
const VALIDITY: usize = 4;
const OFFSETS: usize = 8;
const VALUES: usize = 12;
const WIDTH: usize = 16;
const COLUMN: usize = 20;
/** Stands for offsets. */
const STRINGS: usize = 1;

const columns: usize = memory.data(20 * 128, 16);

/** Where the caller describes the columns, in the order of the constants that name them. */
export function columnsAt(): usize {
  return columns;
}
function columnAt(name: u32): usize {
  return columns + <usize>name * COLUMN;
}

export function has(name: u32, row: u32): bool {
  const column = columnAt(name);
  if (row >= load<u32>(column, ROWS)) return false;
  return bitAt(load<u32>(column, VALIDITY), row);
}

/** False for null. */
export function flag(name: u32, row: u32): bool {
  if (!has(name, row)) return false;
  const column = columnAt(name);
  const values = <usize>load<u32>(column, VALUES);
  return load<u32>(column, WIDTH) == 1 ? load<u8>(values + row) != 0 : bitAt(values, row);
}

/** A number that is not null, sign-extended; the low half of one with 128 bits. */
export function number(name: u32, row: u32): i64 {
  const column = columnAt(name);
  const width = <usize>load<u32>(column, WIDTH);
  const at = <usize>load<u32>(column, VALUES) + <usize>row * width;
  return width == 4 ? <i64>load<i32>(at) : load<i64>(at);
}

/** Appends an unsigned number, 0 for null, as a VarUInteger whose length in bytes has `width` bits; a negative one is a misfit. */
export function putAmount(name: u32, row: u32, width: u32): void {
  const column = columnAt(name);
  if (load<u32>(column, WIDTH) != 16 || !has(name, row)) {
    putVarUint(amount(name, row), width);
    return;
  }
  const at = <usize>load<u32>(column, VALUES) + ((<usize>row) << 4);
  if (load<i64>(at, 8) < 0) setMisfit();
  putVarUints(at, 2, width);
}

/** An unsigned number below 2^64, or 0 for null; another number is a misfit. */
export function amount(name: u32, row: u32): u64 {
  if (!has(name, row)) return 0;
  const column = columnAt(name);
  const value = number(name, row);
  if (load<u32>(column, WIDTH) == 16) {
    const at = <usize>load<u32>(column, VALUES) + ((<usize>row) << 4);
    if (load<u64>(at, 8) != 0) setMisfit();
  } else if (value < 0) setMisfit();
  return <u64>value;
}

/** Bytes of a string, where the address of its text is, and the length up to which the text is in the string itself. */
export const STRING_BITS: usize = 4;
export const ADDRESS: usize = 8;
export const MAX_INLINED: u32 = 12;

/** Address of the text of a string. */
export function textAt(string: usize): usize {
  return load<u32>(string) > MAX_INLINED ? <usize>load<u32>(string, ADDRESS) : string + 4;
}

/** Address of a text or of bytes. */
export function bytesAt(name: u32, row: u32): usize {
  const column = columnAt(name);
  const values = <usize>load<u32>(column, VALUES);
  const offsets = <usize>load<u32>(column, OFFSETS);
  return offsets == STRINGS
    ? textAt(values + ((<usize>row) << STRING_BITS))
    : values + load<u32>(offsets + ((<usize>row) << 2));
}
/** Length of a text or of bytes; 0 for null. */
export function lengthAt(name: u32, row: u32): u32 {
  if (!has(name, row)) return 0;
  const column = columnAt(name);
  const offsets = <usize>load<u32>(column, OFFSETS);
  if (offsets == STRINGS) return load<u32>(<usize>load<u32>(column, VALUES) + ((<usize>row) << STRING_BITS));
  const offset = offsets + ((<usize>row) << 2);
  return load<u32>(offset, 4) - load<u32>(offset);
}

/** True if a column has exactly this text, which is ASCII. */
export function isText(name: u32, row: u32, text: string): bool {
  const length = <u32>text.length;
  if (lengthAt(name, row) != length) return false;
  const from = bytesAt(name, row);
  const characters = changetype<usize>(text);
  for (let i: usize = 0; i < length; i++) {
    if (load<u8>(from + i) != load<u8>(characters + (i << 1))) return false;
  }
  return true;
}

/** True if two rows have the same values in the columns from one to another. */
export function areSame(first: u32, last: u32, a: u32, b: u32): bool {
  for (let name = first; name <= last; name++) {
    const isThere = has(name, a);
    if (isThere != has(name, b) || (isThere && !isSame(name, a, b))) return false;
  }
  return true;
}

function isSame(name: u32, a: u32, b: u32): bool {
  const column = columnAt(name);
  if (load<u32>(column, OFFSETS) != 0) {
    const length = lengthAt(name, a);
    return length == lengthAt(name, b) && memory.compare(bytesAt(name, a), bytesAt(name, b), length) == 0;
  }
  const width = <usize>load<u32>(column, WIDTH);
  if (width == 0) return flag(name, a) == flag(name, b);
  const values = <usize>load<u32>(column, VALUES);
  return memory.compare(values + <usize>a * width, values + <usize>b * width, width) == 0;
}

/** Decodes a hash, 44 characters of base64, to 32 bytes at `to`. False if it is another text, or null. */
export function readHash(name: u32, row: u32, to: usize): bool {
  if (lengthAt(name, row) != 44) return false;
  const from = bytesAt(name, row);
  if (load<u8>(from, 43) != 61) return false;
  const a = v128.load(from);
  const b = v128.load(from, 16);
  // The last characters stand for the last 11 bytes, and for a twelfth, which is 0.
  const c = i8x16.replace_lane(v128.load(from, 28), 15, 65);
  const end = decodeSixteen(c);
  v128.store(to, decodeSixteen(a));
  v128.store(to, decodeSixteen(b), 12);
  v128.store64_lane(to, end, 0, 21);
  store<u32>(
    to,
    i32x4.extract_lane(i8x16.shuffle(end, end, 7, 8, 9, 10, 7, 8, 9, 10, 7, 8, 9, 10, 7, 8, 9, 10), 0),
    28,
  );
  return (invalidIn(a) | invalidIn(b) | invalidIn(c)) == 0 && i8x16.extract_lane_u(end, 11) == 0;
}

let workchain: i32 = 0;
/** Workchain of the last address that was read. */
export function lastWorkchain(): i32 {
  return workchain;
}

/** Decodes a raw address, `workchain:64 upper-case hex digits`, to its 32 bytes at `to`. False if it is another text, or null. */
export function readAddress(name: u32, row: u32, to: usize): bool {
  const length = lengthAt(name, row);
  if (length < 66 || length > 69) return false;
  let from = bytesAt(name, row);
  const colon = from + length - 65;
  if (load<u8>(colon) != 58) return false;
  const sign = load<u8>(from) == 45 ? -1 : 1;
  if (sign < 0) from++;
  let value: i32 = 0;
  // A number has one form: no leading zeros, and no negative zero.
  if (from == colon || (load<u8>(from) == 48 && (from + 1 < colon || sign < 0))) return false;
  for (; from < colon; from++) {
    const digit = <i32>load<u8>(from) - 48;
    if (digit < 0 || digit > 9) return false;
    value = value * 10 + digit;
  }
  workchain = sign * value;
  if (workchain < -128 || workchain > 127) return false;
  v128.store(to, i8x16.narrow_i16x8_u(hexPairs(colon + 1), hexPairs(colon + 17)));
  v128.store(to, i8x16.narrow_i16x8_u(hexPairs(colon + 33), hexPairs(colon + 49)), 16);
  return !v128.any_true(v128.or(invalidHex(colon + 1, colon + 17), invalidHex(colon + 33, colon + 49)));
}

/** Eight bytes, each in 16 bits, of sixteen upper-case hex digits. */
function hexPairs(at: usize): v128 {
  const v = v128.load(at);
  const digits = v128.bitselect(i8x16.sub(v, i8x16.splat(48)), i8x16.sub(v, i8x16.splat(55)), isDecimal(v));
  return v128.and(v128.or(i16x8.shl(digits, 4), i16x8.shr_u(digits, 8)), i16x8.splat(255));
}

/** Marks characters that are no hex digits, in two vectors of sixteen. */
function invalidHex(a: usize, b: usize): v128 {
  const x = v128.load(a);
  const y = v128.load(b);
  return v128.not(v128.and(v128.or(isDecimal(x), isLetter(x)), v128.or(isDecimal(y), isLetter(y))));
}
function isDecimal(v: v128): v128 {
  return i8x16.lt_u(i8x16.sub(v, i8x16.splat(48)), i8x16.splat(10));
}
function isLetter(v: v128): v128 {
  return i8x16.lt_u(i8x16.sub(v, i8x16.splat(65)), i8x16.splat(6));
}

export function sameHash(a: usize, b: usize): bool {
  const first = v128.xor(v128.load(a), v128.load(b));
  return !v128.any_true(v128.or(first, v128.xor(v128.load(a, 16), v128.load(b, 16))));
}
