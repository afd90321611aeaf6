import { fit, newBlock } from './memory';

/** Bytes of quotes behind the page: they end every loop that searches for one, so that no loop needs a bounds check. */
export const PADDING: usize = 128;

export enum Failure {
  none = 0,
  /** The record does not match the declaration. */
  refused = 1,
  /** The text is not JSON. */
  broken = 2,
}

/** The page that is scanned. Positions are addresses; a function that fails returns 0. */
export class Page {
  static start: usize = 0;
  static end: usize = 0;
  /** True if whitespace or raw control characters were skipped: then the text must be cleaned before it is stored. */
  static dirty: bool = false;
  static failure: Failure = Failure.none;
  /** Where the text is no longer JSON. */
  static brokenAt: usize = 0;
}

const received = newBlock();

/** Space for a page that comes in. */
export function roomFor(length: usize): usize {
  return fit(received, length + PADDING);
}

/** Begins to scan a page. */
export function open(start: usize, length: usize): void {
  Page.start = start;
  Page.end = start + length;
  Page.dirty = false;
  memory.fill(Page.end, QUOTE, PADDING);
}

export const QUOTE: u8 = 34;
export const BACKSLASH: u8 = 92;

export function broken(at: usize): usize {
  Page.failure = Failure.broken;
  Page.brokenAt = min(at, Page.end);
  return 0;
}

export function refused(): usize {
  Page.failure = Failure.refused;
  return 0;
}

/** Byte at which the page is no longer JSON. */
export function brokenAt(): usize {
  return Page.brokenAt - Page.start;
}
