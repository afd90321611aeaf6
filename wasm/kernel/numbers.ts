import { append, claim, close, putInteger, putWide } from './columns';
import { QUOTE, refused } from './page';
import { Key } from './plan';
import { hexAt } from './skip';

const MINUS: u8 = 45;
/** Digits of a DECIMAL(38,0). */
const MAX_DIGITS: usize = 38;
/** Digits that 64 bits hold, whatever they are. */
const HALF_DIGITS: usize = 19;

/** Digits between two positions. */
function digits(from: usize, to: usize): u64 {
  let value: u64 = 0;
  for (let at = from; at < to; at++) value = value * 10 + (load<u8>(at) - 48);
  return value;
}

/** Reads an integer of 64 bits, between quotes or without them, and returns the position behind it. */
export function readInteger(key: Key, row: u32, start: usize): usize {
  const isNegative = load<u8>(start) == MINUS;
  const from = isNegative ? start + 1 : start;
  let to = from;
  let magnitude: u64 = 0;
  for (let digit: u8 = load<u8>(to) - 48; digit <= 9; digit = load<u8>(++to) - 48) magnitude = magnitude * 10 + digit;
  const length = to - from;
  if (length - 1 >= HALF_DIGITS || (load<u8>(from) == 48 && (length > 1 || isNegative))) return refused();
  if (magnitude > <u64>i64.MAX_VALUE + (isNegative ? 1 : 0)) return refused();
  const value = isNegative ? <i64>(0 - magnitude) : <i64>magnitude;
  if (value < <i64>key.minLow || value > <i64>key.maxLow) return refused();
  putInteger(key.numbers, row, value);
  return to;
}

/** As {@link readInteger}, of up to 38 digits. */
export function readInteger128(key: Key, row: u32, start: usize): usize {
  const isNegative = load<u8>(start) == MINUS;
  const from = isNegative ? start + 1 : start;
  let to = from;
  while (<u8>(load<u8>(to) - 48) <= 9) to++;
  const length = to - from;
  if (length - 1 >= MAX_DIGITS || (load<u8>(from) == 48 && (length > 1 || isNegative))) return refused();
  let low: u64;
  let high: u64 = 0;
  if (length <= HALF_DIGITS) low = digits(from, to);
  else {
    const head = digits(from, to - HALF_DIGITS);
    const scale: u64 = 10_000_000_000_000_000_000;
    const tail = digits(to - HALF_DIGITS, to);
    low = head * scale + tail;
    high = highOf(head, scale) + (low < tail ? 1 : 0);
  }
  if (isNegative) {
    low = 0 - low;
    high = ~high + (low == 0 ? 1 : 0);
  }
  if (isLess(low, high, key.minLow, key.minHigh) || isLess(key.maxLow, key.maxHigh, low, high)) return refused();
  putWide(key.numbers, row, low, high);
  return to;
}

/** The upper 64 bits of a product. */
function highOf(a: u64, b: u64): u64 {
  const aLow = a & 0xffffffff;
  const aHigh = a >> 32;
  const bLow = b & 0xffffffff;
  const bHigh = b >> 32;
  const middle = aHigh * bLow + ((aLow * bLow) >> 32);
  return aHigh * bHigh + (middle >> 32) + ((aLow * bHigh + (middle & 0xffffffff)) >> 32);
}

/** Compares two numbers of 128 bits in two's complement. */
export function isLess(low: u64, high: u64, otherLow: u64, otherHigh: u64): bool {
  return high == otherHigh ? low < otherLow : <i64>high < <i64>otherHigh;
}

/** A JSON number may go on with a fraction or an exponent. */
export function wholeOnly(to: usize): usize {
  if (to == 0) return 0;
  const c = load<u8>(to);
  return c == 46 || c == 101 || c == 69 ? refused() : to;
}

/** The position behind a closing quote. */
export function quoteAt(to: usize): usize {
  if (to == 0) return 0;
  return load<u8>(to) == QUOTE ? to + 1 : refused();
}

/** A decimal string of any length, as text and, if it fits, as a number. */
export function readWide(key: Key, row: u32, at: usize): usize {
  if (load<u8>(at) != QUOTE) return refused();
  const isNegative = load<u8>(at, 1) == MINUS;
  const from = isNegative ? at + 2 : at + 1;
  let to = from;
  while (<u8>(load<u8>(to) - 48) <= 9) to++;
  const length = to - from;
  if (length == 0 || load<u8>(to) != QUOTE || (load<u8>(from) == 48 && (length > 1 || isNegative))) return refused();
  if (changetype<usize>(key.bytes)) {
    claim(key.bytes, row);
    append(key.bytes, at + 1, to - at - 1);
    close(key.bytes, row);
  }
  if (changetype<usize>(key.numbers) && length <= MAX_DIGITS && readInteger128(key, row, at + 1) == 0) return 0;
  return to + 1;
}

/** A shard: 1 to 16 hex digits. */
export function readShard(key: Key, row: u32, at: usize): usize {
  if (load<u8>(at) != QUOTE) return refused();
  let to = at + 1;
  let value: u64 = 0;
  for (let digit = hexAt(to); digit != 255; digit = hexAt(++to)) value = (value << 4) | digit;
  if (load<u8>(to) != QUOTE || to - at - 2 >= 16) return refused();
  putInteger(key.numbers, row, value);
  return to + 1;
}

/** An opcode: `0x` and 8 hex digits. */
export function readOpcode(key: Key, row: u32, at: usize): usize {
  if (load<u8>(at) != QUOTE || load<u16>(at, 1) != 0x7830 || load<u8>(at, 11) != QUOTE) return refused();
  let value: u32 = 0;
  let bad: u32 = 0;
  for (let i = at + 3; i < at + 11; i++) {
    const digit = hexAt(i);
    bad |= digit;
    value = (value << 4) | digit;
  }
  if (bad > 15) return refused();
  putInteger(key.numbers, row, <i32>value);
  return at + 12;
}
