/**
 * The bytes under the scanner. One page at a time, so they belong to the module: fields of an object that is handed around
 * made the scanner measurably slower.
 */

export const QUOTE = 34;
export const BACKSLASH = 92;
/** Quotes behind the page end every loop that looks for one, so that no loop needs a bound of its own. */
const PADDING = 128;

const start = Buffer.alloc(1 << 16, QUOTE);

export const page = {
  bytes: start,
  /** The same memory, for reading four bytes at once. */
  view: viewOf(start),
  end: 0,
  /** Set when blanks or raw control characters were passed: the text between is not yet the one to store. */
  dirty: false,
  /** How many records the list that was read last had. */
  records: 0,
  /** Where the text stopped being JSON. */
  brokenAt: 0,
};

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** Takes a page. The bytes are copied: a buffer that is always the same one, with quotes behind, keeps the loops fast. */
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

/** Thrown for text that is no JSON; one object, because a stack trace for each bad record would cost more than the record. */
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

/** Marks quotes and backslashes among four bytes: the lowest set bit belongs to the first one, 0 means there is none. */
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

/** The word that four bytes are read as. */
export function wordOf(text: string): number {
  return Buffer.from(text, 'latin1').readInt32LE(0);
}
