import { BACKSLASH, broken, Page, QUOTE } from './page';

// Validates JSON without storing it. Each function takes the position of a value and returns the position behind it, or 0.

const MAX_DEPTH: u32 = 512;
export const NULL: u32 = 0x6c6c756e;
export const TRUE: u32 = 0x65757274;
/** `false` without its first letter. */
export const ALSE: u32 = 0x65736c61;

/** The value of each hex digit; 255 for other characters. */
const hexDigits: usize = heap.alloc(256);
memory.fill(hexDigits, 255, 256);
for (let i: u8 = 0; i < 10; i++) store<u8>(hexDigits + 48 + i, i);
for (let i: u8 = 0; i < 6; i++) {
  store<u8>(hexDigits + 65 + i, 10 + i);
  store<u8>(hexDigits + 97 + i, 10 + i);
}

export function hexAt(at: usize): u32 {
  return load<u8>(hexDigits + load<u8>(at));
}

export function skipBlanks(from: usize): usize {
  let at = from;
  let c = load<u8>(at);
  if (c > 32) return at;
  while (c == 32 || c == 10 || c == 13 || c == 9) c = load<u8>(++at);
  if (at != from) Page.dirty = true;
  return at;
}

export function skipValue(at: usize): usize {
  return skipNested(at, 0);
}

function skipNested(at: usize, depth: u32): usize {
  switch (load<u8>(at)) {
    case 34:
      return skipString(at);
    case 123:
      return skipObject(at, depth);
    case 91:
      return skipArray(at, depth);
    case 116:
      return load<u32>(at) == TRUE ? at + 4 : broken(at);
    case 110:
      return load<u32>(at) == NULL ? at + 4 : broken(at);
    case 102:
      return load<u32>(at, 1) == ALSE ? at + 5 : broken(at);
    default:
      return skipNumber(at);
  }
}

function skipObject(from: usize, depth: u32): usize {
  if (depth > MAX_DEPTH) return broken(from);
  let at = skipBlanks(from + 1);
  if (load<u8>(at) == 125) return at + 1;
  while (true) {
    if (load<u8>(at) != QUOTE) return broken(at);
    at = skipString(at);
    if (at == 0) return 0;
    at = skipBlanks(at);
    if (load<u8>(at) != 58) return broken(at);
    at = skipNested(skipBlanks(at + 1), depth + 1);
    if (at == 0) return 0;
    at = skipBlanks(at);
    const c = load<u8>(at);
    if (c == 125) return at + 1;
    if (c != 44) return broken(at);
    at = skipBlanks(at + 1);
  }
}

function skipArray(from: usize, depth: u32): usize {
  if (depth > MAX_DEPTH) return broken(from);
  let at = skipBlanks(from + 1);
  if (load<u8>(at) == 93) return at + 1;
  while (true) {
    at = skipNested(at, depth + 1);
    if (at == 0) return 0;
    at = skipBlanks(at);
    const c = load<u8>(at);
    if (c == 93) return at + 1;
    if (c != 44) return broken(at);
    at = skipBlanks(at + 1);
  }
}

export function skipString(from: usize): usize {
  const quotes = i8x16.splat(34);
  const slashes = i8x16.splat(92);
  const blanks = i8x16.splat(32);
  let at = from + 1;
  while (true) {
    const v = v128.load(at);
    const marks = i8x16.bitmask(v128.or(v128.or(i8x16.eq(v, quotes), i8x16.eq(v, slashes)), i8x16.lt_u(v, blanks)));
    if (marks == 0) {
      at += 16;
      continue;
    }
    at += ctz(marks);
    const c = load<u8>(at);
    if (c == QUOTE) return at >= Page.end ? broken(at) : at + 1;
    if (c == BACKSLASH) {
      at = afterEscape(at);
      if (at == 0) return 0;
    } else {
      Page.dirty = true;
      at++;
    }
  }
}

/** The position behind the escape that starts at `at`. */
export function afterEscape(at: usize): usize {
  switch (load<u8>(at, 1)) {
    case 34:
    case 47:
    case 92:
    case 98:
    case 102:
    case 110:
    case 114:
    case 116:
      return at + 2;
    case 117:
      for (let i = at + 2; i < at + 6; i++) if (hexAt(i) == 255) return broken(at);
      return at + 6;
    default:
      return broken(at);
  }
}

function skipNumber(from: usize): usize {
  let at = load<u8>(from) == 45 ? from + 1 : from;
  at = load<u8>(at) == 48 ? at + 1 : afterDigits(at);
  if (at == 0) return 0;
  if (load<u8>(at) == 46) {
    at = afterDigits(at + 1);
    if (at == 0) return 0;
  }
  const c = load<u8>(at);
  if (c == 101 || c == 69) {
    at++;
    const sign = load<u8>(at);
    if (sign == 43 || sign == 45) at++;
    at = afterDigits(at);
  }
  return at;
}

function afterDigits(from: usize): usize {
  let at = from;
  while (<u8>(load<u8>(at) - 48) <= 9) at++;
  return at == from ? broken(at) : at;
}
