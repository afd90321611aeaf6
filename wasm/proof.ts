// AssemblyScript: bags of cells and their hashes; transactions and messages whose columns are compared with their hashes.

import { readBag } from './cells/boc';
import { placeRooms, ROOM } from './cells/builder';
import {
  bitsOf,
  cellAt,
  cellCount,
  contentOf,
  depthOf,
  forgetPending,
  hashPending,
  placeCells,
  refCountOf,
  refOf,
} from './cells/cell-table';
import { sha256Init } from './cells/sha256';
import { columnsAt, columnsInit } from './content/columns';
import { MOST_CURRENCIES } from './content/extra-currencies';
import {
  buildMessages,
  compareParts,
  isOpcodeWrong,
  MESSAGE,
  opcodeOf,
  placeMessages,
  readMessages,
  stateOf,
} from './content/messages';
import {
  assignMessages,
  buildTransactions,
  openTransactions,
  placeTransactions,
  TRANSACTION,
  verdictOf,
} from './content/transactions';

export {
  bitsOf,
  cellAt,
  columnsAt,
  contentOf,
  depthOf,
  hashPending,
  isOpcodeWrong,
  opcodeOf,
  readBag,
  refCountOf,
  refOf,
  stateOf,
  verdictOf,
};

sha256Init();
columnsInit();

/** First byte of the memory that the caller may use: a multiple of 64. */
export function start(): usize {
  return (__heap_base + 63) & ~63;
}

/** Drops all cells, and lets those to come use the memory from `at` on, a multiple of 64. */
export function begin(at: usize): void {
  placeCells(at);
}

/** Number of cells read so far. */
export function count(): u32 {
  return cellCount;
}

/** Maximum number of cells that are built for a transaction and for a message besides their extra currencies: a description of three, the
 * lists of messages, the states, itself; the message, its normal form, and its two nodes of a dictionary. */
const TRANSACTION_CELLS: usize = 6;
const MESSAGE_CELLS: usize = 4;

/** Bytes of work that the proof of some rows needs, after their columns. */
export function workBytes(transactions: u32, messages: u32, currencies: u32): usize {
  const cells =
    <usize>transactions * TRANSACTION_CELLS +
    <usize>messages * MESSAGE_CELLS +
    <usize>currencies * 2 * <usize>MOST_CURRENCIES;
  return <usize>transactions * TRANSACTION + <usize>messages * (MESSAGE + 4) + cells * ROOM + 4 * 64;
}

/**
 * Proves transactions with their messages. The columns are placed and described (`columnsAt`).
 *
 * @param parents for each message the row of its transaction, ascending
 * @param work memory of `workBytes`, a multiple of 64; that after it is free, too
 * @param currencies number of values with extra currencies, at least
 * @param isHashed false if the hashes are not those of cells: then only what else must hold is checked
 */
export function prove(
  transactions: u32,
  messages: u32,
  parents: usize,
  work: usize,
  currencies: u32,
  isHashed: bool,
): void {
  const order = work + <usize>transactions * TRANSACTION + <usize>messages * MESSAGE;
  const rooms = (order + ((<usize>messages) << 2) + 63) & ~63;
  const cells =
    <usize>transactions * TRANSACTION_CELLS +
    <usize>messages * MESSAGE_CELLS +
    <usize>currencies * 2 * <usize>MOST_CURRENCIES;
  forgetPending();
  placeRooms(rooms, cells);
  placeCells((rooms + cells * ROOM + 127) & ~63);
  placeMessages(work + <usize>transactions * TRANSACTION, messages, isHashed);
  placeTransactions(work, transactions, order, isHashed);
  readMessages();
  hashPending();
  compareParts();
  while (buildMessages() > 0) hashPending();
  assignMessages(parents, messages);
  openTransactions();
  hashPending();
  while (buildTransactions() > 0) hashPending();
}
