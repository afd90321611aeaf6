// Extra currencies: JSON such as {"100":"5"}, amounts by currency id, as a dictionary of cells.

import { clearMisfit, hasMisfit, putVarUints, reserveBuilt } from '../cells/builder';
import { NONE } from '../cells/cell-table';
import { bytesAt, lengthAt } from './columns';
import { buildDictionary } from './dictionary';

/** Maximum number of currencies: a dictionary of as many has 8,191 cells, and a message of the chain has at most 8,192. */
const MAX_CURRENCIES: u32 = 4096;
/** Bytes of the shortest pair, `"1":"2",`. */
const MIN_PAIR: u32 = 8;
/** Root of a value that no cell can have. */
export const MALFORMED: u32 = 0xfffffffe;

/** Ids in ascending order, and where the amount of each is. */
const ids: usize = memory.data(4096 * 4, 16);
const places: usize = memory.data(4096 * 4, 16);
/** Amounts as they were read: four words of 64 bits each, the lowest first. */
const amounts: usize = memory.data(4096 * 32, 16);
const AMOUNT: usize = 32;
const WORDS: u32 = 4;
/** Decimal digits of the greatest amount, which has 248 bits. */
const MAX_DIGITS: usize = 75;

let found: u32 = 0;

/** Maximum number of cells that the dictionary of a value has. */
export function extraCells(name: u32, row: u32): u32 {
  const length = lengthAt(name, row);
  return length > 2 ? 2 * min(MAX_CURRENCIES, length / MIN_PAIR + 1) : 0;
}

/** Builds the dictionary of a value. Returns its root: NONE for null and {}; MALFORMED for a value that no cell can have. */
export function buildExtra(name: u32, row: u32): u32 {
  const length = lengthAt(name, row);
  if (length == 0) return NONE;
  if (!parse(bytesAt(name, row), length)) return MALFORMED;
  if (found == 0) return NONE;
  const cells = reserveBuilt(2 * found - 1);
  if (cells == NONE) return NONE;
  clearMisfit();
  const root = buildDictionary(found, 32, cells, idAt, putAmountAt);
  return hasMisfit() ? MALFORMED : root;
}

/** Reads the pairs of an object, and sorts them by id. */
function parse(at: usize, length: u32): bool {
  const end = at + length;
  found = 0;
  if (length < 2 || load<u8>(at) != 123 || load<u8>(end - 1) != 125) return false;
  if (length == 2) return true;
  for (let from = at + 1; from < end; from++) {
    if (found == MAX_CURRENCIES) return false;
    const amount = amounts + <usize>found * AMOUNT;
    from = readQuoted(from, end, amount);
    if (from == 0 || load<u64>(amount) > 0xffffffff || !isNarrow(amount) || load<u8>(from) != 58) return false;
    const id = <u32>load<u64>(amount);
    from = readQuoted(from + 1, end, amount);
    if (from == 0 || !insert(id)) return false;
    if (from == end - 1) return true;
    if (load<u8>(from) != 44) return false;
  }
  return false;
}

function isNarrow(amount: usize): bool {
  return (load<u64>(amount, 8) | load<u64>(amount, 16) | load<u64>(amount, 24)) == 0;
}

/** Reads a quoted decimal number of at most 75 digits into four words. Returns the address after it, which is before `end`; 0 for another text. */
function readQuoted(from: usize, end: usize, to: usize): usize {
  if (load<u8>(from) != 34) return 0;
  const first = from + 1;
  memory.fill(to, 0, AMOUNT);
  let at = first;
  for (; at < end && load<u8>(at) != 34; at++) {
    const digit = <u32>load<u8>(at) - 48;
    if (digit > 9 || at - first == MAX_DIGITS) return 0;
    appendDigit(to, digit);
  }
  const digits = at - first;
  const isPadded = digits > 1 && load<u8>(first) == 48;
  return digits == 0 || isPadded || at + 1 >= end ? 0 : at + 1;
}

/** A number times ten, and a digit. */
function appendDigit(at: usize, digit: u32): void {
  let carry: u64 = digit;
  for (let word: usize = 0; word < AMOUNT; word += 4) {
    carry += <u64>load<u32>(at + word) * 10;
    store<u32>(at + word, <u32>carry);
    carry >>= 32;
  }
}

function idAt(position: u32): u32 {
  return load<u32>(ids + ((<usize>position) << 2));
}

/** Places the id of the amount that was read last. False for an id that is there. */
function insert(id: u32): bool {
  let low: u32 = 0;
  let high = found;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (idAt(middle) < id) low = middle + 1;
    else high = middle;
  }
  if (low < found && idAt(low) == id) return false;
  const at = (<usize>low) << 2;
  const rest = (<usize>(found - low)) << 2;
  memory.copy(ids + at + 4, ids + at, rest);
  memory.copy(places + at + 4, places + at, rest);
  store<u32>(ids + at, id);
  store<u32>(places + at, found++);
  return true;
}

function putAmountAt(position: u32): void {
  putVarUints(amounts + <usize>load<u32>(places + ((<usize>position) << 2)) * AMOUNT, WORDS, 5);
}
