import { claim, close, reserve, tip } from './columns';
import { broken, Page, QUOTE, refused } from './page';
import { Key } from './plan';
import { decodeSixteen, invalidIn } from './six-bits';

const EQUALS: u8 = 61;
const HASH_LENGTH: usize = 44;
/** Characters between two capacity checks. */
const CHUNK: usize = 4096;

/** Six bits of each character; 255 for others. */
const sixBits: usize = heap.alloc(256);
memory.fill(sixBits, 255, 256);
for (let i: u8 = 0; i < 26; i++) {
  store<u8>(sixBits + 65 + i, i);
  store<u8>(sixBits + 97 + i, 26 + i);
}
for (let i: u8 = 0; i < 10; i++) store<u8>(sixBits + 48 + i, 52 + i);
store<u8>(sixBits + 43, 62);
store<u8>(sixBits + 47, 63);

function sixAt(at: usize): u32 {
  return load<u8>(sixBits + load<u8>(at));
}

/** A hash is validated, but stored as text. */
export function readHash(key: Key, row: u32, at: usize): usize {
  const from = at + 1;
  if (load<u8>(at) != QUOTE || load<u8>(from + HASH_LENGTH) != QUOTE) return refused();
  const a = v128.load(from);
  const b = v128.load(from, 16);
  const c = v128.load(from, 28);
  const invalid = invalidIn(a) | invalidIn(b) | (invalidIn(c) & 0x7fff);
  if (invalid != 0 || load<u8>(from, 43) != EQUALS) return refused();
  const column = key.bytes;
  claim(column, row);
  reserve(column, HASH_LENGTH);
  const to = tip(column);
  v128.store(to, a);
  v128.store(to, b, 16);
  v128.store(to, c, 28);
  column.end += HASH_LENGTH;
  close(column, row);
  return from + HASH_LENGTH + 1;
}

export function readBase64(key: Key, row: u32, at: usize): usize {
  if (load<u8>(at) != QUOTE) return refused();
  const column = key.bytes;
  claim(column, row);
  let from = at + 1;
  let stop = from;
  while (from == stop) {
    reserve(column, CHUNK);
    let to = tip(column);
    for (stop = from + CHUNK; from < stop; from += 16, to += 12) {
      const v = v128.load(from);
      if (invalidIn(v) != 0) break;
      v128.store(to, decodeSixteen(v));
    }
    column.end = to - column.values;
  }
  let to = tip(column);
  for (let word = wordAt(from); word <= 0xffffff; word = wordAt(from)) {
    to = storeThree(to, word);
    from += 4;
  }
  if (load<u8>(from) != QUOTE) {
    const isShort = load<u8>(from, 2) == EQUALS;
    const a = sixAt(from);
    const b = sixAt(from + 1);
    const c = isShort ? 0 : sixAt(from + 2);
    if ((a | b | c) > 63 || load<u8>(from, 3) != EQUALS || load<u8>(from, 4) != QUOTE) return refused();
    storeThree(to, (a << 18) | (b << 12) | (c << 6));
    to += isShort ? 1 : 2;
    from += 4;
  }
  if (from >= Page.end) return broken(from);
  column.end = to - column.values;
  close(column, row);
  return from + 1;
}

/** The 24 bits of four characters; more if one of them is invalid. */
function wordAt(at: usize): u32 {
  const a = sixAt(at);
  const b = sixAt(at + 1);
  const c = sixAt(at + 2);
  const d = sixAt(at + 3);
  return (a | b | c | d) > 63 ? u32.MAX_VALUE : (a << 18) | (b << 12) | (c << 6) | d;
}

function storeThree(to: usize, word: u32): usize {
  store<u8>(to, <u8>(word >> 16));
  store<u8>(to, <u8>(word >> 8), 1);
  store<u8>(to, <u8>word, 2);
  return to + 3;
}
