import type { BytesColumn } from './columns.ts';
import { afterEscape, BROKEN, cursor, hexDigit } from './skip.ts';

const QUOTE = 34;
const BACKSLASH = 92;

/**
 * Appends the rest of a string, from `at` to its closing quote, to the column's bytes at `to`, with escapes undone: UTF-8, a
 * lone surrogate as U+FFFD. Moves the cursor behind the quote and returns the end of the bytes. @throws {BROKEN}
 */
export function appendString(column: BytesColumn, start: number, from: number): number {
  const { bytes } = cursor;
  let at = start;
  column.end = from;
  while (bytes[at] !== QUOTE) {
    if (bytes[at] === BACKSLASH) {
      at = appendEscape(column, at);
      continue;
    }
    const quote = bytes.indexOf(QUOTE, at);
    const slash = bytes.subarray(at, quote).indexOf(BACKSLASH);
    const to = slash < 0 ? quote : at + slash;
    column.reserve(to - at);
    bytes.copy(column.bytes, column.end, at, to);
    column.end += to - at;
    at = to;
  }
  if (at >= cursor.end) throw BROKEN;
  cursor.at = at + 1;
  return column.end;
}

const SHORT: ReadonlyMap<number, number> = new Map([
  [98, 8],
  [102, 12],
  [110, 10],
  [114, 13],
  [116, 9],
]);

function appendEscape(column: BytesColumn, at: number): number {
  const { bytes } = cursor;
  let after = afterEscape(at);
  const letter = bytes[at + 1] as number;
  let code = letter === 117 ? unit(at + 2) : (SHORT.get(letter) ?? letter);
  if (code >= 0xd800 && code <= 0xdbff && bytes[after] === BACKSLASH && bytes[after + 1] === 117) {
    const behind = afterEscape(after);
    const second = unit(after + 2);
    if (second >= 0xdc00 && second <= 0xdfff) {
      code = 0x10000 + ((code - 0xd800) << 10) + (second - 0xdc00);
      after = behind;
    }
  }
  column.reserve(4);
  // Node writes a lone surrogate as U+FFFD.
  column.end += column.bytes.write(String.fromCodePoint(code), column.end);
  return after;
}

function unit(at: number): number {
  const { bytes } = cursor;
  let value = 0;
  for (let i = at; i < at + 4; i++) value = value * 16 + hexDigit(bytes[i] as number);
  return value;
}

/** The JSON text from one position to another as it is stored: no blanks outside strings, control characters escaped. */
export function rawText(from: number, to: number, dirty: boolean): string {
  const text = cursor.bytes.toString('utf8', from, to);
  return dirty ? compactJson(text) : text;
}

/** Valid JSON (raw control characters inside strings apart) without blanks, and with control characters as escapes. */
export function compactJson(text: string): string {
  let out = '';
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const c = text.charAt(i);
    if (!inString) {
      if (c === '"') inString = true;
      if (c !== ' ' && c !== '\n' && c !== '\r' && c !== '\t') out += c;
    } else if (c === '\\') {
      out += c + text.charAt(++i);
    } else {
      if (c === '"') inString = false;
      out += c < ' ' ? `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}` : c;
    }
  }
  return out;
}
