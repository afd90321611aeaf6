import type { Key } from './decode-plan.ts';
import { page, QUOTE } from './page-buffer.ts';
import { REFUSED } from './refused-flag.ts';

const MINUS = 45;
const ZERO = 48;
const WORD = 4_294_967_296;
const HALF_WORD = 2_147_483_648;
/** Digits that a double holds exactly. */
const SAFE_DIGITS = 15;
/** Digits of a DECIMAL(38,0). */
const MOST_DIGITS = 38;

export function readDecimal(key: Key, row: number, at: number): number {
  const { bytes } = page;
  if (bytes[at] !== QUOTE) throw REFUSED;
  const to = writeInteger(key, row, at + 1);
  if (bytes[to] !== QUOTE) throw REFUSED;
  return to + 1;
}

export function readInteger(key: Key, row: number, at: number): number {
  const to = writeInteger(key, row, at);
  const c = page.bytes[to] as number;
  if (c === 46 || c === 101 || c === 69) throw REFUSED;
  return to;
}

/** Writes the integer that starts at `start`, and returns the position after it. */
function writeInteger(key: Key, row: number, start: number): number {
  const { bytes } = page;
  const column = key.numbers;
  const negative = bytes[start] === MINUS;
  const from = negative ? start + 1 : start;
  let to = from;
  let magnitude = 0;
  for (let digit = (bytes[to] as number) - ZERO; digit >= 0 && digit <= 9; digit = (bytes[to] as number) - ZERO) {
    magnitude = magnitude * 10 + digit;
    to++;
  }
  const length = to - from;
  if (length === 0 || column === null || (bytes[from] === ZERO && (length > 1 || negative))) throw REFUSED;
  if (length > SAFE_DIGITS) {
    if (column.width !== 2 || !writeLong(key, row, from, to, negative)) throw REFUSED;
    return to;
  }
  const value = negative ? -magnitude : magnitude;
  if (value < key.min || value > key.max) throw REFUSED;
  const high = value >= 0 && value < WORD ? 0 : Math.floor(value / WORD);
  const fresh = column.width === 1 ? column.put32(row, value) : column.put64(row, value - high * WORD, high);
  if (!fresh) throw REFUSED;
  return to;
}

function number(from: number, to: number): number {
  const { bytes } = page;
  let value = 0;
  for (let at = from; at < to; at++) value = value * 10 + (bytes[at] as number) - ZERO;
  return value;
}

/** 16 to 19 digits, in two parts so that each product is below 2^53. */
function writeLong(key: Key, row: number, from: number, to: number, negative: boolean): boolean {
  if (to - from > 19 || key.bigMax < 10n ** 15n || (negative && key.bigMin >= 0n)) return false;
  const head = number(from, to - 8);
  const low16 = head % 65_536;
  const upper = ((head - low16) / 65_536) * 100_000_000;
  const upperLow = upper % 65_536;
  const rest = upperLow * 65_536 + low16 * 100_000_000 + number(to - 8, to);
  let low = rest % WORD;
  let high = (upper - upperLow) / 65_536 + Math.floor(rest / WORD);
  if (high >= HALF_WORD && !(negative && high === HALF_WORD && low === 0)) return false;
  if (negative) {
    high = low === 0 ? -high : -1 - high;
    low = low === 0 ? 0 : WORD - low;
  }
  return key.numbers?.put64(row, low, high) ?? false;
}

export function readDecimal128(key: Key, row: number, at: number): number {
  const { bytes } = page;
  if (bytes[at] !== QUOTE) throw REFUSED;
  const to = writeInteger128(key, row, at + 1);
  if (bytes[to] !== QUOTE) throw REFUSED;
  return to + 1;
}

/** A JSON number of up to 38 digits. */
export function readInteger128(key: Key, row: number, at: number): number {
  const to = writeInteger128(key, row, at);
  const c = page.bytes[to] as number;
  if (c === 46 || c === 101 || c === 69) throw REFUSED;
  return to;
}

function writeInteger128(key: Key, row: number, start: number): number {
  const { bytes } = page;
  const negative = bytes[start] === MINUS;
  const from = negative ? start + 1 : start;
  let to = from;
  let magnitude = 0;
  for (let digit = (bytes[to] as number) - ZERO; digit >= 0 && digit <= 9; digit = (bytes[to] as number) - ZERO) {
    magnitude = magnitude * 10 + digit;
    to++;
  }
  const length = to - from;
  if (length === 0 || length > MOST_DIGITS) throw REFUSED;
  if (bytes[from] === ZERO && (length > 1 || negative)) throw REFUSED;
  if (length <= SAFE_DIGITS && !negative) {
    const high = magnitude < WORD ? 0 : Math.floor(magnitude / WORD);
    if (key.numbers?.put128(row, magnitude - high * WORD, high) !== true) throw REFUSED;
    return to;
  }
  const value = BigInt(bytes.toString('latin1', start, to));
  if (value < key.bigMin || value > key.bigMax || key.numbers?.putBigInt(row, value) !== true) throw REFUSED;
  return to;
}

/** A decimal string of any length, as text and, if it fits, as a number. */
export function readWide(key: Key, row: number, at: number): number {
  const { bytes, view } = page;
  if (bytes[at] !== QUOTE) throw REFUSED;
  const negative = bytes[at + 1] === MINUS;
  const from = negative ? at + 2 : at + 1;
  let to = from;
  while ((bytes[to] as number) >= ZERO && (bytes[to] as number) <= ZERO + 9) to++;
  const length = to - from;
  if (length === 0 || bytes[to] !== QUOTE || (bytes[from] === ZERO && (length > 1 || negative))) throw REFUSED;
  if (key.bytes !== null && !key.bytes.put(row, bytes, view, at + 1, to)) throw REFUSED;
  if (key.numbers !== null && length <= MOST_DIGITS) writeInteger128(key, row, at + 1);
  return to + 1;
}
