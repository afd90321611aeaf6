// Rows that come from a database in any order: their places in memory, and the transaction of each message.

import { Msg, Tx } from '../generated/numbering';
import { bitAt } from '../kernel/bits';
import { ADDRESS, bytesAt, lengthAt, MAX_INLINED, STRING_BITS } from './columns';

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

/** A database aligns texts to this many bytes, if it aligns them. */
const ALIGNMENT: u64 = 7;

/** Texts of strings that stand one after the other, at most aligned: their rows, the address of the first one, and that after the last. */
let pieceFrom: u32 = 0;
let pieceTo: u32 = 0;
let pieceStart: u64 = 0;
let pieceEnd: u64 = 0;

/**
 * Finds the next texts that can be copied together, in the rows from one to before another.
 *
 * @param strings address of those of all rows, with addresses of the database
 * @returns the row of the first one; `to` if no string points to its text
 */
export function findPiece(strings: usize, validity: usize, from: u32, to: u32): u32 {
  pieceFrom = to;
  for (let row = from; row < to; row++) {
    const string = strings + ((<usize>row) << STRING_BITS);
    const length = load<u32>(string);
    if (length <= MAX_INLINED || !bitAt(validity, row)) continue;
    const start = load<u64>(string, ADDRESS);
    if (pieceFrom == to) {
      pieceFrom = row;
      pieceStart = start;
    } else if (start < pieceEnd || start - pieceEnd > ALIGNMENT) break;
    pieceEnd = start + length;
    pieceTo = row + 1;
  }
  return pieceFrom;
}

/** Bytes of the texts that were found. */
export function pieceSize(): u32 {
  return <u32>(pieceEnd - pieceStart);
}

/** Gives the strings of the texts that were found their address, now that these are copied to `at`. Returns the row after them. */
export function linkPiece(strings: usize, at: usize): u32 {
  for (let row = pieceFrom; row < pieceTo; row++) {
    const string = strings + ((<usize>row) << STRING_BITS);
    const place = load<u64>(string, ADDRESS) - pieceStart;
    if (load<u32>(string) > MAX_INLINED) store<u64>(string, <u64>at + place, ADDRESS);
  }
  return pieceTo;
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
    const slot = slotOf(Tx.hash, row, table, slots);
    store<u32>(slot, row + 1);
    store<u32>(slot, mixed, 4);
  }
  for (let row: u32 = 0; row < messages; row++, to += 4) {
    store<i32>(to, load<i32>(slotOf(Msg.tx_hash, row, table, slots)) - 1);
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
  return lengthAt(Tx.hash, row) == length && memory.compare(bytesAt(Tx.hash, row), at, length) == 0;
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
