// AssemblyScript: bags of cells and their hashes; transactions and messages whose columns are compared with their hashes.

import { bagsInit, readBag } from './cells/boc';
import { placeRooms, ROOM } from './cells/builder';
import {
  bitsOf,
  cellAt,
  cellCount,
  contentOf,
  depthOf,
  forgetPending,
  growTo,
  hashPending,
  isFull,
  MAX_CELLS,
  placeCells,
  refCountOf,
  refOf,
} from './cells/cell-table';
import { sha256Init } from './cells/sha256';
import { columnsAt, columnsInit } from './content/columns';
import { extraCells } from './content/extra-currencies';
import { MSG_EXTRA_VALUE, TX_EXTRA_CREDIT, TX_EXTRA_FEES } from './content/fields';
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
bagsInit();
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
const TRANSACTION_CELLS: u32 = 6;
const MESSAGE_CELLS: u32 = 4;

/** Cells that may be built for some rows. */
function builtCells(transactions: u32, messages: u32): u32 {
  let cells = transactions * TRANSACTION_CELLS + messages * MESSAGE_CELLS;
  for (let row: u32 = 0; row < transactions; row++) {
    cells += extraCells(TX_EXTRA_FEES, row) + extraCells(TX_EXTRA_CREDIT, row);
  }
  for (let row: u32 = 0; row < messages; row++) cells += extraCells(MSG_EXTRA_VALUE, row);
  return cells;
}

/**
 * Proves transactions with their messages. The columns are placed and described (`columnsAt`). False if their cells are more than the table
 * has room for: then nothing is known of them.
 *
 * @param parents for each message the row of its transaction, ascending
 * @param work a multiple of 64; memory from there on is free
 * @param isHashed false if the hashes are not those of cells: then only what else must hold is checked
 */
export function prove(transactions: u32, messages: u32, parents: usize, work: usize, isHashed: bool): bool {
  const cells = builtCells(transactions, messages);
  if (cells > MAX_CELLS) return false;
  const order = work + <usize>transactions * TRANSACTION + <usize>messages * MESSAGE;
  const rooms = (order + ((<usize>messages) << 2) + 63) & ~63;
  const table = (rooms + <usize>cells * ROOM + 127) & ~63;
  if (!growTo(table)) return false;
  forgetPending();
  placeRooms(rooms, cells);
  placeCells(table);
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
  return !isFull;
}
