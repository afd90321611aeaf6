// Columns in Arrow's memory layout, as the caller placed them in memory.

import { putVarUint, putVarUints, setMisfit } from '../cells/builder';

// A column: number of rows (those after them are null), addresses of validity, offsets (0 if rows have a fixed width) and values, bytes per
// row (0 for bits), the position of the first row among the bits of a byte, and the bytes from the offset of a row to that of the next; the
// offset after that of a row is its end. A column that is not there has 0 rows.
const ROWS: usize = 0;
const VALIDITY: usize = 4;
const OFFSETS: usize = 8;
const VALUES: usize = 12;
const WIDTH: usize = 16;
const SHIFT: usize = 20;
const STEP: usize = 24;
const COLUMN: usize = 28;

const columns: usize = memory.data(28 * 128, 16);

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
  return bitAt(load<u32>(column, VALIDITY), row + load<u32>(column, SHIFT));
}

function bitAt(bits: usize, position: u32): bool {
  return ((load<u8>(bits + (position >> 3)) >> <u8>(position & 7)) & 1) != 0;
}

/** False for null. */
export function flag(name: u32, row: u32): bool {
  if (!has(name, row)) return false;
  const column = columnAt(name);
  return bitAt(load<u32>(column, VALUES), row + load<u32>(column, SHIFT));
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

function offsetAt(column: usize, row: u32): usize {
  return <usize>load<u32>(column, OFFSETS) + <usize>row * <usize>load<u32>(column, STEP);
}
/** Address of a text or of bytes. */
export function bytesAt(name: u32, row: u32): usize {
  const column = columnAt(name);
  return <usize>load<u32>(column, VALUES) + <usize>load<u32>(offsetAt(column, row));
}
/** Length of a text or of bytes; 0 for null. */
export function lengthAt(name: u32, row: u32): u32 {
  if (!has(name, row)) return 0;
  const offset = offsetAt(columnAt(name), row);
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

const digits: usize = memory.data(256);

/** Fills the table of base64 characters. */
export function columnsInit(): void {
  memory.fill(digits, 0xff, 256);
  for (let i: u32 = 0; i < 64; i++) {
    const char: u32 = i < 26 ? 65 + i : i < 52 ? 71 + i : i < 62 ? i - 4 : i == 62 ? 43 : 47;
    store<u8>(digits + char, <u8>i);
  }
}

/** Decodes a hash, 44 characters of base64, to 32 bytes at `to`. False if it is another text, or null. */
export function readHash(name: u32, row: u32, to: usize): bool {
  if (lengthAt(name, row) != 44) return false;
  let from = bytesAt(name, row);
  if (load<u8>(from, 43) != 61) return false;
  let bad: u32 = 0;
  for (let i: usize = 0; i < 30; i += 3, from += 4) {
    const a = <u32>load<u8>(digits + load<u8>(from));
    const b = <u32>load<u8>(digits + load<u8>(from, 1));
    const c = <u32>load<u8>(digits + load<u8>(from, 2));
    const d = <u32>load<u8>(digits + load<u8>(from, 3));
    bad |= a | b | c | d;
    const value = (a << 18) | (b << 12) | (c << 6) | d;
    store<u8>(to + i, <u8>(value >> 16));
    store<u8>(to + i, <u8>(value >> 8), 1);
    store<u8>(to + i, <u8>value, 2);
  }
  const a = <u32>load<u8>(digits + load<u8>(from));
  const b = <u32>load<u8>(digits + load<u8>(from, 1));
  const c = <u32>load<u8>(digits + load<u8>(from, 2));
  bad |= a | b | c;
  const value = (a << 12) | (b << 6) | c;
  store<u8>(to, <u8>(value >> 10), 30);
  store<u8>(to, <u8>(value >> 2), 31);
  return bad < 64 && (value & 3) == 0;
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
  for (let i: usize = 0; i < 32; i++) {
    const first = hexDigit(load<u8>(colon + 1 + 2 * i));
    const second = hexDigit(load<u8>(colon + 2 + 2 * i));
    if ((first | second) > 15) return false;
    store<u8>(to + i, <u8>((first << 4) | second));
  }
  return true;
}

function hexDigit(char: u32): u32 {
  if (char >= 48 && char <= 57) return char - 48;
  return char >= 65 && char <= 70 ? char - 55 : 255;
}

export function sameHash(a: usize, b: usize): bool {
  const first = v128.xor(v128.load(a), v128.load(b));
  return !v128.any_true(v128.or(first, v128.xor(v128.load(a, 16), v128.load(b, 16))));
}
