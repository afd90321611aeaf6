/**
 * The page that is scanned. There is one page at a time, so it belongs to the module: fields of an object that is passed around made
 * the scanner measurably slower.
 */

export const QUOTE = 34;
export const BACKSLASH = 92;
/** Quotes after the page end every loop that searches for one, so that no loop needs a bounds check. */
const PADDING = 128;

const start = Buffer.alloc(1 << 16, QUOTE);

export const page = {
  bytes: start,
  /** The same memory, for reading four bytes at once. */
  view: viewOf(start),
  end: 0,
  /** True if whitespace or raw control characters were skipped: then the text must be cleaned before it is stored. */
  dirty: false,
  /** Number of records of the last list. */
  records: 0,
  /** Position at which the text is no longer JSON. */
  brokenAt: 0,
};

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** Loads a page into the buffer, followed by quotes. */
export function load(source: Uint8Array): void {
  if (page.bytes.length < source.length + PADDING) {
    page.bytes = Buffer.allocUnsafeSlow(source.length + (source.length >> 2) + PADDING);
    page.view = viewOf(page.bytes);
  }
  page.bytes.set(source, 0);
  page.bytes.fill(QUOTE, source.length, source.length + PADDING);
  page.end = source.length;
  page.dirty = false;
}

/** Thrown for invalid JSON; a single object, because a stack trace per bad record is too expensive. */
export const BROKEN = new Error('not JSON');

export function broken(at: number): never {
  page.brokenAt = Math.min(at, page.end);
  throw BROKEN;
}

const ONES = 0x01010101;
const HIGH_BITS = 0x80808080;
const QUOTES = 0x22222222;
const BACKSLASHES = 0x5c5c5c5c;
const BLANKS = 0x20202020;

/** Marks quotes and backslashes among four bytes: the lowest set bit is the first one, 0 means none. */
export function endsIn(word: number): number {
  const quotes = word ^ QUOTES;
  const slashes = word ^ BACKSLASHES;
  return (((quotes - ONES) & ~quotes) | ((slashes - ONES) & ~slashes)) & HIGH_BITS;
}

/** Like `endsIn`, for control characters. */
export function controlsIn(word: number): number {
  return (word - BLANKS) & ~word & HIGH_BITS;
}

/** Number of bytes before the first marked one. */
export function bytesBefore(marks: number): number {
  return (31 - Math.clz32(marks & -marks)) >> 3;
}

/** Four characters as a word. */
export function wordOf(text: string): number {
  return Buffer.from(text, 'latin1').readInt32LE(0);
}
