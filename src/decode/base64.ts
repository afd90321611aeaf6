import type { Key } from './decode-plan.ts';
import { broken, page, QUOTE } from './page-buffer.ts';
import { REFUSED } from './refused-flag.ts';

const EQUALS = 61;
const HASH_LENGTH = 44;
/** Groups of four characters between two capacity checks. */
const CHUNK = 1024;

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
/** Six bits of each character; -1 if invalid. */
const SIX_BITS = new Int8Array(256).fill(-1);
/** Twelve bits of two characters, indexed by their little-endian word; -1 if invalid. */
const TWELVE_BITS = new Int16Array(65_536).fill(-1);
for (const [high, first] of [...ALPHABET].entries()) {
  SIX_BITS[first.charCodeAt(0)] = high;
  for (const [low, second] of [...ALPHABET].entries()) {
    TWELVE_BITS[first.charCodeAt(0) | (second.charCodeAt(0) << 8)] = (high << 6) | low;
  }
}

/** A hash is validated, but stored as text. */
export function readHash(key: Key, row: number, at: number): number {
  const { bytes, view } = page;
  const column = key.bytes;
  const from = at + 1;
  if (bytes[at] !== QUOTE || bytes[from + HASH_LENGTH] !== QUOTE || column === null || !column.claim(row)) {
    throw REFUSED;
  }
  column.reserve(HASH_LENGTH);
  const target = column.view;
  const to = column.end;
  let bad = 0;
  for (let i = 0; i < HASH_LENGTH - 4; i += 4) {
    const word = view.getInt32(from + i, true);
    bad |= (TWELVE_BITS[word & 65_535] as number) | (TWELVE_BITS[word >>> 16] as number);
    target.setInt32(to + i, word, true);
  }
  const last = view.getInt32(from + HASH_LENGTH - 4, true);
  bad |= (TWELVE_BITS[last & 65_535] as number) | (SIX_BITS[(last >>> 16) & 255] as number);
  if (bad < 0 || last >>> 24 !== EQUALS) throw REFUSED;
  target.setInt32(to + HASH_LENGTH - 4, last, true);
  column.close(row, to + HASH_LENGTH);
  return from + HASH_LENGTH + 1;
}

export function readBase64(key: Key, row: number, at: number): number {
  const { bytes, view } = page;
  const column = key.bytes;
  if (bytes[at] !== QUOTE || column === null || !column.claim(row)) throw REFUSED;
  let from = at + 1;
  let to = column.end;
  let stop = from;
  while (from === stop) {
    column.end = to;
    column.reserve(3 * CHUNK + 4);
    const target = column.view;
    for (stop = from + 4 * CHUNK; from < stop; from += 4, to += 3) {
      const word = view.getInt32(from, true);
      const high = TWELVE_BITS[word & 65_535] as number;
      const low = TWELVE_BITS[word >>> 16] as number;
      if ((high | low) < 0) break;
      target.setInt32(to, (high << 20) | (low << 8), false);
    }
  }
  if (bytes[from] !== QUOTE) {
    const word = view.getInt32(from, true);
    const high = TWELVE_BITS[word & 65_535] as number;
    const third = (word >>> 16) & 255;
    const low = third === EQUALS ? 0 : (SIX_BITS[third] as number);
    if ((high | low) < 0 || word >>> 24 !== EQUALS || bytes[from + 4] !== QUOTE) throw REFUSED;
    column.view.setInt32(to, (high << 20) | (low << 14), false);
    to += third === EQUALS ? 1 : 2;
    from += 4;
  }
  if (from >= page.end) broken(from);
  column.close(row, to);
  return from + 1;
}
