// Extra currencies: JSON such as {"100":"5"}, amounts by currency id, as a dictionary of cells.

import { close, open, putBit, putRef, putVarUint, setMisfit } from '../cells/builder';
import { NONE } from '../cells/cell-table';
import { bytesAt, lengthAt } from './columns';
import { putLabel } from './dictionary';

/** Maximum number of currencies that are read. */
export const MOST_CURRENCIES: u32 = 16;
/** Number of cells of a dictionary. */
export const EXTRA_CELLS: u32 = 2 * MOST_CURRENCIES - 1;

const ids: usize = memory.data(16 * 4, 16);
const amounts: usize = memory.data(16 * 8, 16);
let found: u32 = 0;
let nextCell: u32 = 0;

/** True if a column has anything but null or {}. */
export function hasExtra(name: u32, row: u32): bool {
  return lengthAt(name, row) > 2;
}

/** Builds the dictionary in reserved cells from `first` on. Returns its root; NONE, and a misfit, for what cannot be rebuilt. */
export function buildExtra(name: u32, row: u32, first: u32): u32 {
  if (!parse(bytesAt(name, row), lengthAt(name, row))) {
    setMisfit();
    return NONE;
  }
  nextCell = first;
  return node(0, found, 32);
}

/** Appends a currency dictionary whose root was built. */
export function putExtra(root: u32): void {
  putBit(root != NONE);
  if (root != NONE) putRef(root);
}

/** Reads the pairs, and sorts them by id. */
function parse(at: usize, length: u32): bool {
  const end = at + length;
  found = 0;
  if (load<u8>(at) != 123 || load<u8>(end - 1) != 125) return false;
  let from = at + 1;
  while (from < end - 1) {
    if (found == MOST_CURRENCIES) return false;
    const id = readQuoted(from, end);
    if (afterQuoted == 0 || id > 0xffffffff || afterQuoted >= end || load<u8>(afterQuoted) != 58) return false;
    const value = readQuoted(afterQuoted + 1, end);
    if (afterQuoted == 0 || afterQuoted >= end) return false;
    if (!insert(<u32>id, value)) return false;
    const after = load<u8>(afterQuoted);
    if (after != 44 && afterQuoted != end - 1) return false;
    from = afterQuoted + 1;
  }
  return found > 0;
}

/** The byte after the last quoted number; 0 if there was none. */
let afterQuoted: usize = 0;

/** A quoted number below 2^63. */
function readQuoted(from: usize, end: usize): u64 {
  afterQuoted = 0;
  if (from + 2 >= end || load<u8>(from) != 34) return 0;
  let value: u64 = 0;
  let at = from + 1;
  for (; at < end && load<u8>(at) != 34; at++) {
    const digit = <u64>load<u8>(at) - 48;
    if (digit > 9 || value > 900000000000000000) return 0;
    value = value * 10 + digit;
  }
  if (at == from + 1 || at >= end) return 0;
  afterQuoted = at + 1;
  return value;
}

/** False for an id that is there. */
function insert(id: u32, amount: u64): bool {
  let at = found;
  for (; at > 0 && load<u32>(ids + ((<usize>(at - 1)) << 2)) >= id; at--) {
    if (load<u32>(ids + ((<usize>(at - 1)) << 2)) == id) return false;
    store<u32>(ids + ((<usize>at) << 2), load<u32>(ids + ((<usize>(at - 1)) << 2)));
    store<u64>(amounts + ((<usize>at) << 3), load<u64>(amounts + ((<usize>(at - 1)) << 3)));
  }
  store<u32>(ids + ((<usize>at) << 2), id);
  store<u64>(amounts + ((<usize>at) << 3), amount);
  found++;
  return true;
}

/** The node of the ids from one to before another, which share all but their low `bits` bits. */
function node(from: u32, to: u32, bits: u32): u32 {
  const lowest = load<u32>(ids + ((<usize>from) << 2));
  const highest = load<u32>(ids + ((<usize>(to - 1)) << 2));
  const rest = 32 - <u32>clz(lowest ^ highest);
  const length = bits - rest;
  const mask: u32 = bits == 32 ? 0xffffffff : ((<u32>1) << bits) - 1;
  const prefix = rest == 32 ? 0 : (lowest & mask) >> rest;
  if (rest == 0) {
    open(nextCell++);
    putLabel(prefix, length, bits);
    putVarUint(load<u64>(amounts + ((<usize>from) << 3)), 5);
    return close();
  }
  let middle = from;
  while (((load<u32>(ids + ((<usize>middle) << 2)) >> (rest - 1)) & 1) == 0) middle++;
  const left = node(from, middle, rest - 1);
  const right = node(middle, to, rest - 1);
  open(nextCell++);
  putLabel(prefix, length, bits);
  putRef(left);
  putRef(right);
  return close();
}
