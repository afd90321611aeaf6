import { append, appendByte, Column, newColumn, reserve, TEXTS, tip } from './columns';
import { BACKSLASH, broken, Page, QUOTE } from './page';
import { afterEscape, hexAt } from './skip';

/** Bytes of a string between two capacity checks. */
const CHUNK: usize = 256;

/**
 * Appends a string, from `start` to its closing quote, unescaped as UTF-8, and returns the position behind the quote.
 *
 * @param isExact keeps lone surrogates apart, to compare strings; otherwise each becomes U+FFFD
 */
export function appendString(column: Column, start: usize, isExact: bool): usize {
  const quotes = i8x16.splat(34);
  const slashes = i8x16.splat(92);
  let at = start;
  while (true) {
    reserve(column, CHUNK);
    let to = tip(column);
    const limit = to + CHUNK;
    let marks: i32 = 0;
    do {
      const v = v128.load(at);
      v128.store(to, v);
      marks = i8x16.bitmask(v128.or(i8x16.eq(v, quotes), i8x16.eq(v, slashes)));
      const plain: usize = marks == 0 ? 16 : ctz(marks);
      at += plain;
      to += plain;
    } while (marks == 0 && to < limit);
    column.end = to - column.values;
    if (marks == 0) continue;
    if (load<u8>(at) == QUOTE) return at >= Page.end ? broken(at) : at + 1;
    at = appendEscape(column, at, isExact);
    if (at == 0) return 0;
  }
}

/** Appends the character of an escape and returns the position behind it. */
function appendEscape(column: Column, at: usize, isExact: bool): usize {
  let after = afterEscape(at);
  if (after == 0) return 0;
  let code = letterOf(at);
  if (code >= 0xd800 && code <= 0xdbff && load<u8>(after) == BACKSLASH && load<u8>(after, 1) == 117) {
    const behind = afterEscape(after);
    if (behind == 0) return 0;
    const second = letterOf(after);
    if (second >= 0xdc00 && second <= 0xdfff) {
      code = 0x10000 + ((code - 0xd800) << 10) + (second - 0xdc00);
      after = behind;
    }
  }
  const isLone = code >= 0xd800 && code <= 0xdfff;
  appendCode(column, isLone && !isExact ? 0xfffd : code);
  return after;
}

/** The character, or half of one, of the escape at a position. */
function letterOf(at: usize): u32 {
  const letter = load<u8>(at, 1);
  switch (letter) {
    case 117:
      return (hexAt(at + 2) << 12) | (hexAt(at + 3) << 8) | (hexAt(at + 4) << 4) | hexAt(at + 5);
    case 98:
      return 8;
    case 102:
      return 12;
    case 110:
      return 10;
    case 114:
      return 13;
    case 116:
      return 9;
    default:
      return letter;
  }
}

function appendCode(column: Column, code: u32): void {
  if (code < 0x80) {
    appendByte(column, <u8>code);
    return;
  }
  if (code < 0x800) appendByte(column, <u8>(0xc0 | (code >> 6)));
  else {
    if (code < 0x10000) appendByte(column, <u8>(0xe0 | (code >> 12)));
    else {
      appendByte(column, <u8>(0xf0 | (code >> 18)));
      appendByte(column, <u8>(0x80 | ((code >> 12) & 63)));
    }
    appendByte(column, <u8>(0x80 | ((code >> 6) & 63)));
  }
  appendByte(column, <u8>(0x80 | (code & 63)));
}

/** Appends the JSON text between two positions as it is stored: without whitespace outside strings, control characters escaped. */
export function appendRaw(column: Column, from: usize, to: usize, dirty: bool): void {
  if (!dirty) {
    append(column, from, to - from);
    return;
  }
  let isInside = false;
  for (let at = from; at < to; at++) {
    const c = load<u8>(at);
    if (!isInside) {
      if (c == QUOTE) isInside = true;
      if (c > 32) appendByte(column, c);
    } else if (c == BACKSLASH) {
      appendByte(column, c);
      appendByte(column, load<u8>(++at));
    } else {
      if (c == QUOTE) isInside = false;
      if (c < 32) appendControl(column, c);
      else appendByte(column, c);
    }
  }
}

/** Appends the escape of a control character, as servers write it. */
function appendControl(column: Column, c: u8): void {
  appendByte(column, BACKSLASH);
  if (c == 10) appendByte(column, 110);
  else if (c == 13) appendByte(column, 114);
  else if (c == 9) appendByte(column, 116);
  else appendUnit(column, c);
}

/** Appends `u` and four hex digits. */
function appendUnit(column: Column, code: u32): void {
  appendByte(column, 117);
  for (let shift = 12; shift >= 0; shift -= 4) {
    const digit = <u8>((code >> shift) & 15);
    appendByte(column, digit < 10 ? 48 + digit : 87 + digit);
  }
}

const scratch = newColumn(TEXTS);

/** The string between quotes from `from` on, unescaped; it stays until the next call. */
export class Text {
  static at: usize = 0;
  static length: usize = 0;

  static read(from: usize): void {
    scratch.end = 0;
    appendString(scratch, from + 1, true);
    Text.at = scratch.values;
    Text.length = scratch.end;
  }

  static is(other: usize, length: usize): bool {
    return Text.length == length && memory.compare(Text.at, other, length) == 0;
  }
}

/** Appends the last text that was read, as a part of a JSON pointer inside a JSON string. */
export function appendPointer(column: Column): void {
  const end = Text.at + Text.length;
  for (let at = Text.at; at < end; at++) {
    const c = load<u8>(at);
    if (c == 126 || c == 47) {
      appendByte(column, 126);
      appendByte(column, c == 126 ? 48 : 49);
    } else if (c == QUOTE || c == BACKSLASH) {
      appendByte(column, BACKSLASH);
      appendByte(column, c);
    } else if (c < 32) {
      if (c == 8 || c == 12) {
        appendByte(column, BACKSLASH);
        appendByte(column, c == 8 ? 98 : 102);
      } else appendControl(column, c);
    } else if (c == 0xed && load<u8>(at, 1) >= 0xa0) {
      // A lone surrogate.
      appendByte(column, BACKSLASH);
      appendUnit(column, 0xd000 | ((<u32>load<u8>(at, 1) & 63) << 6) | (load<u8>(at, 2) & 63));
      at += 2;
    } else appendByte(column, c);
  }
}
