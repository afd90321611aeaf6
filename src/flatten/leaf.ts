import type { BytesColumn } from './columns.ts';
import { appendString, rawText } from './jsontext.ts';
import { type Key, Op } from './plan.ts';
import { cursor, hexDigit, skipValue } from './skip.ts';

const QUOTE = 34;
const BACKSLASH = 92;
const MINUS = 45;
const WORD = 4_294_967_296;
/** Digits that a double holds exactly. */
const SAFE_DIGITS = 15;

const BASE64 = new Int32Array(256).fill(-1);
for (const [value, char] of [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].entries()) {
  BASE64[char.charCodeAt(0)] = value;
}

/** Thrown for a record that does not fit its declaration; one object, explained afterwards from the record's text. */
export const REFUSED = new Error('refused');

/** Writes the value under the cursor into row `row` of its column. @throws {REFUSED} when it does not fit. */
export function readLeaf(key: Key, row: number): void {
  switch (key.op) {
    case Op.string:
      return readString(key, row);
    case Op.hash:
      return readHash(key, row);
    case Op.decimal64:
      return readDecimal(key, row);
    case Op.integer:
      return readInteger(key, row);
    case Op.boolean:
      return readBoolean(key, row);
    case Op.shard:
      return readShard(key, row);
    case Op.opcode:
      return readOpcode(key, row);
    case Op.base64:
      return readBase64(key, row);
    case Op.decimal128:
      return readDecimal128(key, row);
    case Op.comment:
      return readComment(key, row);
    default:
      return skipValue();
  }
}

function readString(key: Key, row: number): void {
  const { bytes } = cursor;
  if (bytes[cursor.at] !== QUOTE) throw REFUSED;
  const column = key.bytes as BytesColumn;
  if (!column.open(row)) throw REFUSED;
  let at = cursor.at + 1;
  column.reserve(128);
  const target = column.bytes;
  let to = column.end;
  const limit = Math.min(target.length, to + 128);
  for (;;) {
    const c = bytes[at] as number;
    if (c === QUOTE) break;
    if (c === BACKSLASH || to === limit) {
      column.end = appendString(column, at, to);
      column.close(row, column.end);
      return;
    }
    target[to++] = c;
    at++;
  }
  if (at >= cursor.end) throw REFUSED;
  column.close(row, to);
  cursor.at = at + 1;
}

function readHash(key: Key, row: number): void {
  const { bytes } = cursor;
  const from = cursor.at + 1;
  if (bytes[from - 1] !== QUOTE || bytes[from + 44] !== QUOTE || bytes[from + 43] !== 61) throw REFUSED;
  const column = key.bytes as BytesColumn;
  if (!column.open(row)) throw REFUSED;
  column.reserve(44);
  const target = column.bytes;
  let to = column.end;
  let bad = 0;
  for (let at = from; at < from + 43; at++) {
    const c = bytes[at] as number;
    bad |= BASE64[c] as number;
    target[to++] = c;
  }
  if (bad < 0) throw REFUSED;
  target[to++] = 61;
  column.close(row, to);
  cursor.at = from + 45;
}

/** The position behind the digits that start at `from`: at least one, no superfluous zero in front. */
function digitsEnd(from: number): number {
  const { bytes } = cursor;
  let at = from;
  for (let c = bytes[at] as number; c >= 48 && c <= 57; c = bytes[at] as number) at++;
  if (at === from || (bytes[from] === 48 && at !== from + 1)) throw REFUSED;
  return at;
}

function number(from: number, to: number): number {
  const { bytes } = cursor;
  let value = 0;
  for (let at = from; at < to; at++) value = value * 10 + (bytes[at] as number) - 48;
  return value;
}

function readDecimal(key: Key, row: number): void {
  const { bytes } = cursor;
  if (bytes[cursor.at] !== QUOTE) throw REFUSED;
  const from = cursor.at + 1;
  const to = writeInteger(key, row, from);
  if (bytes[to] !== QUOTE || to >= cursor.end) throw REFUSED;
  cursor.at = to + 1;
}

function readInteger(key: Key, row: number): void {
  const to = writeInteger(key, row, cursor.at);
  const c = cursor.bytes[to] as number;
  if (c === 46 || c === 101 || c === 69) throw REFUSED;
  cursor.at = to;
}

/** Writes the integer whose text starts at `start`, and returns the position behind it. */
function writeInteger(key: Key, row: number, start: number): number {
  const negative = cursor.bytes[start] === MINUS;
  const from = negative ? start + 1 : start;
  const to = digitsEnd(from);
  const column = key.words;
  if (column === null) throw REFUSED;
  if (to - from > SAFE_DIGITS) {
    if (column.width !== 2 || !writeLong(key, row, from, to, negative)) throw REFUSED;
    return to;
  }
  const magnitude = number(from, to);
  if (negative && magnitude === 0) throw REFUSED;
  const value = negative ? -magnitude : magnitude;
  if (value < key.min || value > key.max) throw REFUSED;
  const high = Math.floor(value / WORD);
  const fresh = column.width === 1 ? column.put32(row, value) : column.put64(row, value - high * WORD, high);
  if (!fresh) throw REFUSED;
  return to;
}

/** 16 to 19 digits, in two parts so that each product stays below 2^53. */
function writeLong(key: Key, row: number, from: number, to: number, negative: boolean): boolean {
  if (to - from > 19 || key.bigMax < 10n ** 15n) return false;
  const head = number(from, to - 8);
  const low16 = head % 65_536;
  const upper = ((head - low16) / 65_536) * 100_000_000;
  const upperLow = upper % 65_536;
  const rest = upperLow * 65_536 + low16 * 100_000_000 + number(to - 8, to);
  let low = rest % WORD;
  let high = (upper - upperLow) / 65_536 + Math.floor(rest / WORD);
  if (high >= 2_147_483_648) {
    const isLeast = negative && high === 2_147_483_648 && low === 0;
    if (!isLeast) return false;
  }
  if (negative) {
    low = low === 0 ? 0 : WORD - low;
    high = (low === 0 ? 0 : -1) - high;
    return key.bigMin < 0n && (key.words?.put64(row, low, high) ?? false);
  }
  return key.words?.put64(row, low, high) ?? false;
}

function readDecimal128(key: Key, row: number): void {
  const { bytes } = cursor;
  if (bytes[cursor.at] !== QUOTE) throw REFUSED;
  const start = cursor.at + 1;
  const negative = bytes[start] === MINUS;
  const from = negative ? start + 1 : start;
  const to = digitsEnd(from);
  if (bytes[to] !== QUOTE || to - from > 38) throw REFUSED;
  const value = BigInt(cursor.bytes.toString('latin1', start, to));
  if (value < key.bigMin || value > key.bigMax || (negative && value === 0n)) throw REFUSED;
  if (key.words?.putBigInt(row, value) !== true) throw REFUSED;
  cursor.at = to + 1;
}

function readBoolean(key: Key, row: number): void {
  const word = cursor.bytes.readInt32BE(cursor.at);
  const value = word === 0x74727565;
  if (!value && (word !== 0x66616c73 || cursor.bytes[cursor.at + 4] !== 101)) throw REFUSED;
  if (key.flags?.put(row, value) !== true) throw REFUSED;
  cursor.at += value ? 4 : 5;
}

function hex(from: number, to: number): number {
  const { bytes } = cursor;
  let value = 0;
  for (let at = from; at < to; at++) {
    const digit = hexDigit(bytes[at] as number);
    if (digit < 0) throw REFUSED;
    value = value * 16 + digit;
  }
  return value;
}

function readShard(key: Key, row: number): void {
  const { bytes } = cursor;
  const from = cursor.at + 1;
  if (bytes[from - 1] !== QUOTE) throw REFUSED;
  let to = from;
  while (to < from + 17 && bytes[to] !== QUOTE) to++;
  if (to === from || to === from + 17) throw REFUSED;
  const middle = Math.max(from, to - 8);
  if (key.words?.put64(row, hex(middle, to), hex(from, middle)) !== true) throw REFUSED;
  cursor.at = to + 1;
}

function readOpcode(key: Key, row: number): void {
  const { bytes } = cursor;
  const from = cursor.at + 1;
  if (bytes[from - 1] !== QUOTE || bytes[from] !== 48 || bytes[from + 1] !== 120 || bytes[from + 10] !== QUOTE) {
    throw REFUSED;
  }
  if (key.words?.put32(row, hex(from + 2, from + 10)) !== true) throw REFUSED;
  cursor.at = from + 11;
}

function readBase64(key: Key, row: number): void {
  const { bytes } = cursor;
  const from = cursor.at + 1;
  if (bytes[from - 1] !== QUOTE) throw REFUSED;
  const to = bytes.indexOf(QUOTE, from);
  if (to >= cursor.end || (to - from) % 4 !== 0) throw REFUSED;
  const column = key.bytes as BytesColumn;
  if (!column.open(row)) throw REFUSED;
  column.reserve(((to - from) / 4) * 3);
  const target = column.bytes;
  let out = column.end;
  const padding = to === from ? 0 : bytes[to - 1] !== 61 ? 0 : bytes[to - 2] !== 61 ? 1 : 2;
  const whole = padding === 0 ? to : to - 4;
  let bad = 0;
  for (let at = from; at < whole; at += 4) {
    const group =
      ((BASE64[bytes[at] as number] as number) << 18) |
      ((BASE64[bytes[at + 1] as number] as number) << 12) |
      ((BASE64[bytes[at + 2] as number] as number) << 6) |
      (BASE64[bytes[at + 3] as number] as number);
    bad |= group;
    target[out++] = group >> 16;
    target[out++] = group >> 8;
    target[out++] = group;
  }
  if (padding > 0) {
    const a = BASE64[bytes[whole] as number] as number;
    const b = BASE64[bytes[whole + 1] as number] as number;
    const c = padding === 1 ? (BASE64[bytes[whole + 2] as number] as number) : 0;
    const group = (a << 18) | (b << 12) | (c << 6);
    bad |= group;
    target[out++] = group >> 16;
    if (padding === 1) target[out++] = group >> 8;
  }
  if (bad < 0) throw REFUSED;
  column.close(row, out);
  cursor.at = to + 1;
}

/** `{"@type":"text_comment","comment":...}` gives its comment; every other decoded body is left null. */
function readComment(key: Key, row: number): void {
  const from = cursor.at;
  cursor.dirty = false;
  skipValue();
  const length = cursor.at - from;
  if (
    length < 30 ||
    cursor.bytes.toString('latin1', from, Math.min(cursor.at, from + 4096)).indexOf('"text_comment"') < 0
  )
    return;
  const { dirty } = cursor;
  const body: unknown = JSON.parse(rawText(from, cursor.at, dirty));
  const comment = commentOf(body);
  if (comment !== undefined && key.bytes?.putText(row, comment) !== true) throw REFUSED;
}

/** The comment of a decoded body, or undefined for any other body. */
export function commentOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('@type' in body) || !('comment' in body)) return undefined;
  return body['@type'] === 'text_comment' && typeof body.comment === 'string' ? body.comment : undefined;
}
