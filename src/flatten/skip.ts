/**
 * The bytes under the scanner and a cursor over JSON that is checked but not kept. One page at a time, so the state belongs
 * to the module: locals of a closure or fields of an object made the scanner measurably slower.
 */

const QUOTE = 34;
const BACKSLASH = 92;
const MAX_DEPTH = 512;
/** Quotes behind the page end every loop that looks for one, so that no loop needs a bound of its own. */
const PADDING = 128;

export const cursor = {
  bytes: Buffer.alloc(1 << 16, QUOTE),
  at: 0,
  end: 0,
  /** Set when blanks or raw control characters were passed: the text between is not yet the one to store. */
  dirty: false,
};

/** Thrown for text that is no JSON; one object, because a stack trace for each bad record would cost more than the record. */
export const BROKEN = new Error('not JSON');

/** Points the cursor at the start of a page. The bytes are copied: a buffer that is always the same one keeps the loops fast. */
export function load(page: Uint8Array): void {
  if (cursor.bytes.length < page.length + PADDING) {
    cursor.bytes = Buffer.allocUnsafeSlow(page.length + (page.length >> 2) + PADDING);
  }
  cursor.bytes.set(page, 0);
  cursor.bytes.fill(QUOTE, page.length, page.length + PADDING);
  cursor.at = 0;
  cursor.end = page.length;
  cursor.dirty = false;
}

export function skipBlanks(): void {
  const { bytes } = cursor;
  let at = cursor.at;
  for (let c = bytes[at]; c === 32 || c === 10 || c === 13 || c === 9; c = bytes[at]) at++;
  if (at !== cursor.at) cursor.dirty = true;
  cursor.at = at;
}

/** Moves behind one whole value. @throws {BROKEN} */
export function skipValue(): void {
  skipNested(0);
}

function skipNested(depth: number): void {
  const c = cursor.bytes[cursor.at];
  switch (c) {
    case QUOTE:
      return skipString();
    case 123:
      return skipObject(depth);
    case 91:
      return skipArray(depth);
    case 116:
      return skipWord(0x74727565, 4);
    case 110:
      return skipWord(0x6e756c6c, 4);
    case 102:
      cursor.at++;
      return skipWord(0x616c7365, 4);
    default:
      return skipNumber();
  }
}

function skipObject(depth: number): void {
  if (depth > MAX_DEPTH) throw BROKEN;
  cursor.at++;
  skipBlanks();
  if (cursor.bytes[cursor.at] === 125) {
    cursor.at++;
    return;
  }
  for (;;) {
    if (cursor.bytes[cursor.at] !== QUOTE) throw BROKEN;
    skipString();
    skipBlanks();
    if (cursor.bytes[cursor.at++] !== 58) throw BROKEN;
    skipBlanks();
    skipNested(depth + 1);
    skipBlanks();
    const c = cursor.bytes[cursor.at++];
    if (c === 125) return;
    if (c !== 44) throw BROKEN;
    skipBlanks();
  }
}

function skipArray(depth: number): void {
  if (depth > MAX_DEPTH) throw BROKEN;
  cursor.at++;
  skipBlanks();
  if (cursor.bytes[cursor.at] === 93) {
    cursor.at++;
    return;
  }
  for (;;) {
    skipNested(depth + 1);
    skipBlanks();
    const c = cursor.bytes[cursor.at++];
    if (c === 93) return;
    if (c !== 44) throw BROKEN;
    skipBlanks();
  }
}

function skipString(): void {
  const { bytes } = cursor;
  let at = cursor.at + 1;
  for (;;) {
    const c = bytes[at] as number;
    if (c === QUOTE) break;
    if (c === BACKSLASH) {
      at = afterEscape(at);
    } else {
      if (c < 32) cursor.dirty = true;
      at++;
    }
  }
  if (at >= cursor.end) throw BROKEN;
  cursor.at = at + 1;
}

/** The position behind the escape that starts at `at`. @throws {BROKEN} */
export function afterEscape(at: number): number {
  const { bytes } = cursor;
  switch (bytes[at + 1]) {
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
      for (let i = at + 2; i < at + 6; i++) if (hexDigit(bytes[i] as number) < 0) throw BROKEN;
      return at + 6;
    default:
      throw BROKEN;
  }
}

/** The value of a hex digit, or -1. */
export function hexDigit(c: number): number {
  if (c >= 48 && c <= 57) return c - 48;
  if (c >= 97 && c <= 102) return c - 87;
  if (c >= 65 && c <= 70) return c - 55;
  return -1;
}

function skipWord(word: number, length: number): void {
  if (cursor.bytes.readInt32BE(cursor.at) !== word) throw BROKEN;
  cursor.at += length;
}

function skipNumber(): void {
  const { bytes } = cursor;
  let at = cursor.at;
  if (bytes[at] === 45) at++;
  if (bytes[at] === 48) at++;
  else at = digits(at);
  if (bytes[at] === 46) at = digits(at + 1);
  if (bytes[at] === 101 || bytes[at] === 69) {
    at++;
    if (bytes[at] === 43 || bytes[at] === 45) at++;
    at = digits(at);
  }
  cursor.at = at;
}

function digits(from: number): number {
  const { bytes } = cursor;
  let at = from;
  for (let c = bytes[at] as number; c >= 48 && c <= 57; c = bytes[at] as number) at++;
  if (at === from) throw BROKEN;
  return at;
}
