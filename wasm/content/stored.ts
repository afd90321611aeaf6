// Rows that come from a database in any order: their places in memory, and the transaction of each message.

import { bytesAt, lengthAt } from './columns';
import { MSG_TRANSACTION, TX_HASH } from './fields';

/** Sets the bits of rows from `before` on as those at `from`, which is 0 if all are set. Bits after them are cleared. */
export function appendBits(to: usize, before: u32, from: usize, count: u32): void {
  let at = to + (<usize>before >> 3);
  const shift = <u64>(before & 7);
  let held: u64 = shift == 0 ? 0 : load<u8>(at);
  for (let done: u32 = 0; done < count; done += 32, at += 4) {
    const more: u64 = from == 0 ? 0xffffffff : load<u32>(from + (done >> 3));
    const rest = min<u32>(32, count - done);
    held |= (more & (((<u64>1) << rest) - 1)) << shift;
    store<u64>(at, held);
    held >>= 32;
  }
}

/**
 * Places the offsets of texts and bytes that stand one after the other: for each row those of its columns, and their end.
 *
 * @param starts address of the first byte of each row
 * @param lengths of the values of each column, `room` rows apart
 * @param validity of each column, `bytes` apart; the length of null does not count
 */
export function placeOffsets(
  starts: usize,
  lengths: usize,
  room: u32,
  validity: usize,
  bytes: usize,
  columns: u32,
  rows: u32,
  to: usize,
): void {
  for (let row: u32 = 0; row < rows; row++) {
    let at = load<u32>(starts + ((<usize>row) << 2));
    const bit = (<u32>1) << (row & 7);
    const own = validity + (row >> 3);
    let length = lengths + ((<usize>row) << 2);
    for (let column: u32 = 0; column < columns; column++, to += 4, length += (<usize>room) << 2) {
      store<u32>(to, at);
      if ((load<u8>(own + <usize>column * bytes) & bit) != 0) at += load<u32>(length);
    }
    store<u32>(to, at);
    to += 4;
  }
}

/**
 * Finds the row of the transaction of each message by its hash, -1 for none.
 *
 * @param table room for 8 bytes times the power of two that is greater than twice the number of transactions
 */
export function findParents(transactions: u32, messages: u32, table: usize, to: usize): void {
  const slots: u32 = max<u32>(2, (<u32>1) << (32 - clz(2 * transactions)));
  memory.fill(table, 0, (<usize>slots) << 3);
  for (let row: u32 = 0; row < transactions; row++) {
    const slot = slotOf(TX_HASH, row, table, slots);
    store<u32>(slot, row + 1);
    store<u32>(slot, mixed, 4);
  }
  for (let row: u32 = 0; row < messages; row++, to += 4) {
    store<i32>(to, load<i32>(slotOf(MSG_TRANSACTION, row, table, slots)) - 1);
  }
}

/** Bits of the hash that was looked for last, which a slot has, too. */
let mixed: u32 = 0;

/** The slot of the hash in a row of a column: row + 1 of a transaction with that hash, or 0. */
function slotOf(name: u32, row: u32, table: usize, slots: u32): usize {
  const length = lengthAt(name, row);
  const at = bytesAt(name, row);
  mixed = length < 8 ? 0 : <u32>((load<u64>(at) * 0x9e3779b97f4a7c15) >> 32);
  let slot = mixed;
  let place: usize;
  do {
    place = table + ((<usize>(slot++ & (slots - 1))) << 3);
  } while (load<u32>(place) != 0 && (load<u32>(place, 4) != mixed || !isHash(load<u32>(place) - 1, at, length)));
  return place;
}

/** True if a transaction has the hash at an address. */
function isHash(row: u32, at: usize, length: u32): bool {
  return lengthAt(TX_HASH, row) == length && memory.compare(bytesAt(TX_HASH, row), at, length) == 0;
}

/**
 * Sorts messages by their transaction.
 *
 * @param parents rows of transactions, -1 for none
 * @param starts becomes for each transaction the position of its first message in `order`, and their end; has two more than there are
 * @param order becomes the rows of messages
 */
export function groupMessages(parents: usize, messages: u32, transactions: u32, starts: usize, order: usize): void {
  memory.fill(starts, 0, (<usize>transactions + 2) << 2);
  for (let row: u32 = 0; row < messages; row++) {
    const parent = load<i32>(parents + ((<usize>row) << 2));
    if (parent >= 0) add(starts + ((<usize>parent + 2) << 2), 1);
  }
  for (let row: u32 = 0; row < transactions; row++) {
    const at = starts + ((<usize>row + 2) << 2);
    add(at, load<u32>(at - 4));
  }
  for (let row: u32 = 0; row < messages; row++) {
    const parent = load<i32>(parents + ((<usize>row) << 2));
    if (parent < 0) continue;
    const at = starts + ((<usize>parent + 1) << 2);
    store<u32>(order + ((<usize>load<u32>(at)) << 2), row);
    add(at, 1);
  }
}

function add(at: usize, more: u32): void {
  store<u32>(at, load<u32>(at) + more);
}
