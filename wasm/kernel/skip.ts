import { Block, newBlock, push } from './memory';
import { BACKSLASH, broken, Page, QUOTE } from './page';

// Validates JSON without storing it. Each function takes the position of a value and returns the position behind it, or 0.

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

/** Small enough to be inlined where it is called. */
export function skipBlanks(at: usize): usize {
  return load<u8>(at) > 32 ? at : skipRun(at);
}

function skipRun(from: usize): usize {
  let at = from;
  let c = load<u8>(at);
  while (c == 32 || c == 10 || c == 13 || c == 9) c = load<u8>(++at);
  if (at != from) Page.dirty = true;
  return at;
}

export function skipValue(at: usize): usize {
  const c = load<u8>(at);
  return c == 123 || c == 91 ? skipNested(at) : skipScalar(at);
}

function skipScalar(at: usize): usize {
  switch (load<u8>(at)) {
    case 34:
      return skipString(at);
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

/** Words of open arrays and objects that are outside of those of the current word. */
const outer: Block = newBlock();

/** Skips an array or an object of any depth. */
function skipNested(from: usize): usize {
  let at = from;
  // A one, and then a bit for each open array (0) or object (1).
  let kinds: u64 = 1;
  outer.size = 0;
  while (true) {
    const bracket = load<u8>(at);
    let isObject = bracket == 123;
    if (<i64>kinds < 0) kinds = nextWord(kinds);
    kinds = (kinds << 1) | (isObject ? 1 : 0);
    at = skipBlanks(at + 1);
    // The closing bracket follows the opening one in ASCII, with one character between them.
    let isMember = load<u8>(at) != bracket + 2;
    while (true) {
      if (isMember) {
        if (isObject) {
          at = skipName(at);
          if (at == 0) return 0;
        }
        const c = load<u8>(at);
        if (c == 123 || c == 91) break;
        at = c == QUOTE ? skipString(at) : skipScalar(at);
        if (at == 0) return 0;
        at = skipBlanks(at);
      }
      const c = load<u8>(at);
      isMember = c == 44;
      if (isMember) {
        at = skipBlanks(at + 1);
        continue;
      }
      if (c != (isObject ? 125 : 93)) return broken(at);
      at++;
      kinds >>= 1;
      if (kinds == 1) {
        if (outer.size == 0) return at;
        kinds = lastWord();
      }
      isObject = (kinds & 1) != 0;
      at = skipBlanks(at);
    }
  }
}

function nextWord(full: u64): u64 {
  store<u64>(push(outer, 8), full);
  return 1;
}
function lastWord(): u64 {
  outer.size -= 8;
  return load<u64>(outer.at + outer.size);
}

/** Skips a key and its colon, and returns the position of the value. */
export function skipName(from: usize): usize {
  if (load<u8>(from) != QUOTE) return broken(from);
  // A short key with its colon, as most are.
  const short = from + 1 + ctz(marksIn(v128.load(from + 1)) | 0x10000);
  if (load<u16>(short) == 0x3a22) return skipBlanks(short + 2);
  let at = skipString(from);
  if (at == 0) return 0;
  at = skipBlanks(at);
  return load<u8>(at) == 58 ? skipBlanks(at + 1) : broken(at);
}

/** Marks the characters of a string that need a look: quotes, backslashes and control characters. */
function marksIn(v: v128): i32 {
  const quotes = i8x16.eq(v, i8x16.splat(34));
  return i8x16.bitmask(v128.or(v128.or(quotes, i8x16.eq(v, i8x16.splat(92))), i8x16.lt_u(v, i8x16.splat(32))));
}

export function skipString(from: usize): usize {
  let at = from + 1;
  while (true) {
    const marks = marksIn(v128.load(at));
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
