// AssemblyScript: bags of cells and their hashes; transactions and messages whose columns are compared with their hashes.

import { bagsInit } from './cells/boc';
import { placeRooms, ROOM } from './cells/builder';
import { cellCount, forgetPending, growTo, hashPending, isFull, MAX_CELLS, placeCells } from './cells/cell-table';
import { sha256Init } from './cells/sha256';
import { extraCells } from './content/extra-currencies';
import { MESSAGE, placeMessages, placeSlots, settleTwins } from './content/message-table';
import { buildMessages, compareParts, readMessages } from './content/messages';
import {
  assignMessages,
  buildTransactions,
  openTransactions,
  placeTransactions,
  TRANSACTION,
} from './content/transactions';
import { Msg, Tx } from './generated/numbering';

export { readBag } from './cells/boc';
export {
  bitsOf,
  cellAt,
  contentOf,
  depthOf,
  growTo,
  hashPending,
  placeCells as begin,
  refCountOf,
  refOf,
} from './cells/cell-table';
export { columnsAt, textAt } from './content/columns';
export { rowOf, stateOf } from './content/message-table';
export { isOpcodeWrong, opcodeOf } from './content/messages';
export { appendBits, findParents, findPiece, groupMessages, linkPiece, pieceSize } from './content/stored';
export { verdictOf } from './content/transactions';

sha256Init();
bagsInit();

/** First byte of the memory that the caller may use: a multiple of 64. */
export function start(): usize {
  return (__heap_base + 63) & ~63;
}

/** Number of cells read so far. */
export function count(): u32 {
  return cellCount;
}

/** Maximum number of cells that are built for a transaction and for a message besides their extra currencies: a description of three, the
 * lists of messages, the states, itself; the message, its normal form, and its two nodes of a dictionary. */
const TRANSACTION_CELLS: u32 = 6;
const MESSAGE_CELLS: u32 = 4;

/** Cells that may be built for transactions from one to before another, and for messages in some rows. */
function builtCells(from: u32, to: u32, messages: u32, rows: usize): u32 {
  let cells = (to - from) * TRANSACTION_CELLS + messages * MESSAGE_CELLS;
  for (let row = from; row < to; row++)
    cells += extraCells(Tx.total_fees_extra_currencies, row) + extraCells(Tx.credit_extra_currencies, row);
  for (let at: u32 = 0; at < messages; at++)
    cells += extraCells(Msg.value_extra_currencies, load<u32>(rows + ((<usize>at) << 2)));
  return cells;
}

/**
 * Proves the transactions from one row to before another with their messages. The columns are placed and described (`columnsAt`). False if
 * their cells are more than the table has room for: then nothing is known of them.
 *
 * @param starts for each transaction the position of its first message in `order`, and their end, as `groupMessages` finds them
 * @param order rows of messages
 * @param work a multiple of 64; memory from there on is free
 * @param isHashed false if the hashes are not hashes of cells: then only other invariants are checked
 */
export function prove(from: u32, to: u32, starts: usize, order: usize, work: usize, isHashed: bool): bool {
  const ownStarts = starts + ((<usize>from) << 2);
  const rows = order + ((<usize>load<u32>(ownStarts)) << 2);
  const messages = load<u32>(starts + ((<usize>to) << 2)) - load<u32>(ownStarts);
  const cells = builtCells(from, to, messages, rows);
  if (cells > MAX_CELLS) return false;
  const atMessages = work + <usize>(to - from) * TRANSACTION;
  const positions = atMessages + <usize>messages * MESSAGE;
  const slots = positions + ((<usize>messages) << 2);
  const slotCount: u32 = (<u32>1) << (33 - clz(messages));
  const rooms = (slots + ((<usize>slotCount) << 2) + 63) & ~63;
  const table = (rooms + <usize>cells * ROOM + 127) & ~63;
  if (!growTo(table)) return false;
  forgetPending();
  placeRooms(rooms, cells);
  placeCells(table);
  placeMessages(atMessages, messages, rows, isHashed);
  placeSlots(slots, slotCount);
  placeTransactions(work, from, to, positions, isHashed);
  readMessages();
  hashPending();
  compareParts();
  while (buildMessages() > 0) hashPending();
  settleTwins();
  assignMessages(ownStarts);
  openTransactions();
  hashPending();
  while (buildTransactions() > 0) hashPending();
  return !isFull;
}
