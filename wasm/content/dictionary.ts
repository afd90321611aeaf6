// Dictionaries of cells, as the node writes them.

import { close, open, put, putRef } from '../cells/builder';

let nextCell: u32 = 0;

/**
 * Builds the dictionary of some values, at least one, in the cells from `first` on: 2 * `count` - 1 of them.
 *
 * @param bits of a key
 * @param keyAt the key at a position; keys are ascending
 * @returns the root
 */
export function buildDictionary(
  count: u32,
  bits: u32,
  first: u32,
  keyAt: (position: u32) => u32,
  putValue: (position: u32) => void,
): u32 {
  nextCell = first;
  return node(0, count, bits, keyAt, putValue);
}

/** The node of the keys from one to before another, which share all but their low `bits` bits. */
function node(from: u32, to: u32, bits: u32, keyAt: (position: u32) => u32, putValue: (position: u32) => void): u32 {
  const lowest = keyAt(from);
  const rest = 32 - <u32>clz(lowest ^ keyAt(to - 1));
  const length = bits - rest;
  const mask: u32 = bits == 32 ? 0xffffffff : ((<u32>1) << bits) - 1;
  const prefix = rest == 32 ? 0 : (lowest & mask) >> rest;
  if (rest == 0) {
    open(nextCell++);
    putLabel(prefix, length, bits);
    putValue(from);
    return close();
  }
  let middle = from;
  while (((keyAt(middle) >> (rest - 1)) & 1) == 0) middle++;
  const left = node(from, middle, rest - 1, keyAt, putValue);
  const right = node(middle, to, rest - 1, keyAt, putValue);
  open(nextCell++);
  putLabel(prefix, length, bits);
  putRef(left);
  putRef(right);
  return close();
}

/**
 * The label of an edge: the `length` bits of `prefix`, where keys have `most` bits left. It has the shortest form, and of equal ones the first
 * of same, long and short.
 */
function putLabel(prefix: u32, length: u32, most: u32): void {
  const width: u32 = 32 - clz(most);
  const ones: u32 = length == 32 ? 0xffffffff : ((<u32>1) << length) - 1;
  if (length > 1 && (prefix == 0 || prefix == ones) && width < 2 * length - 1) {
    put(prefix == 0 ? 6 : 7, 3);
    put(length, width);
    return;
  }
  if (width < length) {
    put(2, 2);
    put(length, width);
  } else put((((<u64>1) << length) - 1) << 1, length + 2);
  put(prefix, length);
}
