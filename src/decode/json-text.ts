import { BACKSLASH, broken, bytesBefore, endsIn, page, QUOTE } from './page-buffer.ts';
import { afterEscape, HEX } from './skip-value.ts';
import type { BytesColumn } from './typed-columns.ts';

/** Bytes of a string between two capacity checks. */
const CHUNK = 256;

/**
 * Appends a string, from `start` to its closing quote, to the column's bytes, unescaped as UTF-8; lone surrogates become U+FFFD.
 * Returns the position after the quote and sets the column's `end`. @throws {BROKEN}
 */
export function appendString(column: BytesColumn, start: number): number {
  const { bytes, view } = page;
  let at = start;
  for (;;) {
    column.reserve(CHUNK);
    const target = column.view;
    let to = column.end;
    let marks = 0;
    for (const limit = to + CHUNK; to < limit; at += 4, to += 4) {
      const word = view.getInt32(at, true);
      target.setInt32(to, word, true);
      marks = endsIn(word);
      if (marks !== 0) break;
    }
    if (marks === 0) {
      column.end = to;
      continue;
    }
    const plain = bytesBefore(marks);
    at += plain;
    column.end = to + plain;
    if (bytes[at] === QUOTE) return at >= page.end ? broken(at) : at + 1;
    at = appendEscape(column, at);
  }
}

const SHORT: ReadonlyMap<number, number> = new Map([
  [98, 8],
  [102, 12],
  [110, 10],
  [114, 13],
  [116, 9],
]);

/** Appends the character of an escape and returns the position after it. */
function appendEscape(column: BytesColumn, at: number): number {
  const { bytes } = page;
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
  if (code < 128) {
    column.bytes[column.end++] = code;
    return after;
  }
  // Node writes a lone surrogate as U+FFFD.
  column.end += column.bytes.write(String.fromCodePoint(code), column.end);
  return after;
}

function unit(at: number): number {
  const { bytes } = page;
  let value = 0;
  for (let i = at; i < at + 4; i++) value = value * 16 + (HEX[bytes[i] as number] as number);
  return value;
}

/** The JSON text between two positions as stored: without whitespace outside strings, control characters escaped. */
export function rawText(from: number, to: number, dirty: boolean): string {
  const text = page.bytes.toString('utf8', from, to);
  return dirty ? compactJson(text) : text;
}

/** As the server writes them, so that raw and escaped values are stored the same way. */
const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Removes whitespace from JSON, and escapes raw control characters in strings. */
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
      out += c < ' ' ? (SHORT_ESCAPES[c] ?? `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`) : c;
    }
  }
  return out;
}

/**
 * Replaces escapes of printable ASCII between two positions of the page by the characters, padded with spaces, because hashes and
 * numbers are read without unescaping. False if there are none.
 */
export function undoPlainEscapes(from: number, to: number): boolean {
  const text = page.bytes.toString('utf8', from, to);
  const plain = text.replace(/\\(?:u00([2-7][0-9a-fA-F])|.)/g, (sequence, hex: string | undefined) => {
    if (sequence === '\\/') return '/';
    const character = hex === undefined ? '"' : String.fromCharCode(Number.parseInt(hex, 16));
    return character === '"' || character === '\\' || character === '\u007f' ? sequence : character;
  });
  if (plain === text) return false;
  const written = page.bytes.write(plain, from);
  page.bytes.fill(32, from + written, to);
  return true;
}
