// Cells of transactions, rebuilt from their columns and compared with the hash that the API gives. A cell contains the hashes of its messages.
// TL-B: https://github.com/ton-blockchain/ton/blob/master/crypto/block/block.tlb

import {
  clearMisfit,
  close,
  hasMisfit,
  open,
  put,
  putHash,
  putMaybeRef,
  putRef,
  putUint,
  reserveBuilt,
  setMisfit,
} from '../cells/builder';
import { cellAt, NONE } from '../cells/cell-table';
import { Tx } from '../generated/numbering';
import { amount, flag, has, isText, lastWorkchain, putAmount, readAddress, readHash, sameHash } from './columns';
import { buildDictionary } from './dictionary';
import { buildExtra, MALFORMED } from './extra-currencies';
import { hasSoundFacts } from './facts';
import { CONTRADICTED, createdAtOf, createdOf, EXTERNAL_IN, messageAt, UNKNOWN } from './message-table';
import { claimHash, depthsOf, excuse, guessDepth } from './messages';
import {
  buildDescription,
  hasCredit,
  hasRun,
  INSTALL,
  lacksCompute,
  putColumnHash,
  typeOf,
  UNKNOWN_TYPE,
} from './phases';

// Verdicts, in the order of `src/proof/verdicts.ts`.
const UNDECIDED: u8 = 0;
const AGREES: u8 = 1;
const GAS_SWAPPED: u8 = 2;
const CREDIT_LEFT_OUT: u8 = 3;
const CONTRADICTS: u8 = 4;
const UNKNOWN_KIND: u8 = 5;
const MANY_MESSAGES: u8 = 6;
const MANY_DEPTHS: u8 = 7;
/** Nothing contradicts, and hashes are not those of cells. */
const UNHASHED: u8 = 12;
/** The first of four: the compute phase was skipped for the reason of that number. */
const SKIPPED_FOR: u8 = 8;

/** Maximum number of outgoing messages. */
const MAX_MESSAGES: u32 = 255;
/** Maximum number of combinations of depths that are tried. */
const MAX_GUESSES: u32 = 60;

/** A transaction at work. Its hash and account follow, 32 bytes each. */
@unmanaged
class Transaction {
  verdict: u8;
  /** Messages that it received: none, one, or 2 for more. */
  received: u8;
  /** The variant to build next. */
  turn: u16;
  /** Its first message, and their number. */
  first: u32;
  messages: u32;
  /** Its first cell. */
  cells: u32;
  /** Roots of extra currencies. */
  fees: u32;
  credit: u32;
  /** True if its last variant did not fit a cell. */
  isMisfit: bool;

  get hash(): usize {
    return changetype<usize>(this) + 32;
  }
  get account(): usize {
    return changetype<usize>(this) + 64;
  }
}
/** Bytes of a transaction. */
export const TRANSACTION: usize = 96;

let transactions: usize = 0;
/** Rows of the batch. */
let firstRow: u32 = 0;
let endRow: u32 = 0;
/** Positions of messages, by transaction; the received one first, then the others in the order of their creation. */
let order: usize = 0;

/** True if the hashes are those of cells; else only facts are checked. */
let isHashed: bool = true;

export function placeTransactions(at: usize, from: u32, to: u32, orderAt: usize, hashed: bool): void {
  isHashed = hashed;
  transactions = at;
  firstRow = from;
  endRow = to;
  order = orderAt;
}

function transactionAt(row: u32): Transaction {
  return changetype<Transaction>(transactions + <usize>(row - firstRow) * TRANSACTION);
}
function orderedAt(position: u32): u32 {
  return load<u32>(order + ((<usize>position) << 2));
}
function setOrdered(position: u32, message: u32): void {
  store<u32>(order + ((<usize>position) << 2), message);
}

/** The verdict on a transaction. */
export function verdictOf(row: u32): u32 {
  return transactionAt(row).verdict;
}

/** Gives each transaction its messages; `starts` has the position of the first of each, and of the end. */
export function assignMessages(starts: usize): void {
  const base = load<u32>(starts);
  for (let row = firstRow; row < endRow; row++, starts += 4) {
    const transaction = transactionAt(row);
    memory.fill(changetype<usize>(transaction), 0, TRANSACTION);
    const own = load<u32>(starts) - base;
    const size = load<u32>(starts, 4) - load<u32>(starts);
    transaction.first = own;
    transaction.messages = size;
    let received: u32 = 0;
    for (let at = own; at < own + size; at++) {
      if (messageAt(at).isReceived) received++;
      place(transaction, at, received > 0);
    }
    transaction.received = <u8>min(received, 2);
    if (size > MAX_MESSAGES + received) transaction.verdict = MANY_MESSAGES;
    else transaction.verdict = received > 1 ? CONTRADICTS : UNDECIDED;
  }
}

/** Inserts a message in its order; more than there may be are not sorted. */
function place(transaction: Transaction, message: u32, hasReceived: bool): void {
  const own = transaction.first;
  let at = message;
  if (messageAt(message).isReceived) {
    for (; at > own && !messageAt(orderedAt(at - 1)).isReceived; at--) setOrdered(at, orderedAt(at - 1));
  } else if (message - own <= MAX_MESSAGES) {
    const lowest = own + <u32>hasReceived;
    const created = createdOf(message);
    for (; at > lowest && createdOf(orderedAt(at - 1)) > created; at--) setOrdered(at, orderedAt(at - 1));
  }
  setOrdered(at, message);
}

/** Begins the transactions, whose messages are decided. */
export function openTransactions(): void {
  for (let row = firstRow; row < endRow; row++) {
    const transaction = transactionAt(row);
    if (transaction.verdict == UNDECIDED) transaction.verdict = openTransaction(row, transaction);
  }
}

function openTransaction(row: u32, transaction: Transaction): u8 {
  const isHash = readHash(Tx.hash, row, transaction.hash);
  if (!isHash || !readAddress(Tx.account, row, transaction.account)) return CONTRADICTS;
  const workchain = lastWorkchain();
  const type = typeOf(row);
  if (type == UNKNOWN_TYPE) return CONTRADICTS;
  if (type == INSTALL) return UNKNOWN_KIND;
  const size = transaction.messages;
  if (!hasSoundFacts(row, transaction.first, size)) return CONTRADICTS;
  for (let k: u32 = 0; k < size; k++) {
    const message = orderedAt(transaction.first + k);
    // Emulation omits the StateInit of a message.
    if (flag(Tx.emulated, row)) excuse(message);
    if (messageAt(message).state == CONTRADICTED || !isOwn(message, transaction.account, workchain)) return CONTRADICTS;
    if (messageAt(message).state != UNKNOWN) continue;
    if (!messageAt(message).isReceived && !isSentThen(message, row, k + 1 - transaction.received)) return CONTRADICTS;
    claimHash(message);
  }
  if (!isHashed) return UNHASHED;
  const cells = reserveBuilt(2 * size + 6);
  if (cells == NONE) return UNDECIDED;
  transaction.cells = cells;
  const fees = buildExtra(Tx.total_fees_extra_currencies, row);
  const credit = buildExtra(Tx.credit_extra_currencies, row);
  transaction.fees = fees;
  transaction.credit = credit;
  return fees == MALFORMED || credit == MALFORMED ? CONTRADICTS : UNDECIDED;
}

/** True if the account is the destination of the message that it received, or the source of one that it sent. */
function isOwn(position: u32, account: usize, workchain: i32): bool {
  const message = messageAt(position);
  if (message.isReceived) return message.destinationWorkchain == workchain && sameHash(message.destination, account);
  if (message.kind == EXTERNAL_IN || !message.hasSource) return false;
  return message.sourceWorkchain == workchain && sameHash(message.source, account);
}

/** True if a message has the time of the transaction that sent it, and the logical time of its position among those. */
function isSentThen(message: u32, row: u32, position: u32): bool {
  return createdAtOf(message) == amount(Tx.now, row) && createdOf(message) == amount(Tx.lt, row) + position;
}

/** One round: compares the cells built by the last one, and builds the next variant where they differ. Returns the number of cells that wait. */
export function buildTransactions(): u32 {
  let waiting: u32 = 0;
  for (let row = firstRow; row < endRow; row++) {
    const transaction = transactionAt(row);
    if (transaction.verdict != UNDECIDED) continue;
    const turn = transaction.turn;
    if (turn > 0 && !transaction.isMisfit && sameHash(cellAt(lastCell(transaction)), transaction.hash)) {
      transaction.verdict = variantOf(row, (turn - 1) / guessesOf(transaction));
      continue;
    }
    const guesses = guessesOf(transaction);
    if (turn >= guesses * variantsOf(row)) {
      transaction.verdict = isBeyondGuesses(transaction) ? MANY_DEPTHS : CONTRADICTS;
      continue;
    }
    transaction.turn = <u16>(turn + 1);
    guessDepths(transaction, turn % guesses);
    clearMisfit();
    buildTransaction(row, transaction, variantOf(row, turn / guesses));
    const isMisfit = hasMisfit();
    transaction.isMisfit = isMisfit;
    // No depth of a message makes it fit, but another variant may.
    if (isMisfit) transaction.turn = <u16>((turn / guesses + 1) * guesses);
    waiting++;
  }
  return waiting;
}

function variantsOf(row: u32): u32 {
  if (lacksCompute(row)) return 4;
  return 1 + <u32>hasCredit(row) + <u32>isGasDifferent(row);
}
function isGasDifferent(row: u32): bool {
  return hasRun(row) && amount(Tx.compute_gas_fees, row) != amount(Tx.compute_gas_used, row);
}
/** What a variant shows if it has the hash: nothing is wrong, or which known error of sources is. */
function variantOf(row: u32, variant: u32): u8 {
  if (lacksCompute(row)) return SKIPPED_FOR + <u8>variant;
  if (variant == 0) return AGREES;
  return variant == 1 && hasCredit(row) ? CREDIT_LEFT_OUT : GAS_SWAPPED;
}

/** Combinations of the depths of messages whose cells are unknown. */
function combinationsOf(transaction: Transaction): u32 {
  let all: u32 = 1;
  const first = transaction.first;
  for (let k: u32 = 0; k < transaction.messages; k++) {
    const message = orderedAt(first + k);
    if (messageAt(message).state == UNKNOWN) all = min(all * depthsOf(message), MAX_GUESSES + 1);
  }
  return all;
}
function guessesOf(transaction: Transaction): u32 {
  return min(combinationsOf(transaction), MAX_GUESSES);
}
function isBeyondGuesses(transaction: Transaction): bool {
  return combinationsOf(transaction) > MAX_GUESSES;
}

/** Sets the depths of unknown messages. The second guess is the opposite of the first: messages of a transaction are usually alike. */
function guessDepths(transaction: Transaction, guess: u32): void {
  const first = transaction.first;
  let rest = guess == 1 && guessesOf(transaction) > 2 ? 0xffffffff : guess > 1 ? guess - 1 : guess;
  for (let k: u32 = 0; k < transaction.messages; k++) {
    const message = orderedAt(first + k);
    if (messageAt(message).state != UNKNOWN) continue;
    const depths = depthsOf(message);
    guessDepth(message, guess == 1 && rest == 0xffffffff ? 1 : rest % depths);
    if (rest != 0xffffffff) rest /= depths;
  }
}

/** The last of its cells is the transaction. */
function lastCell(transaction: Transaction): u32 {
  return transaction.cells + 5;
}

/** The first message that the transaction at work has sent. */
let firstSent: u32 = 0;

function indexOf(position: u32): u32 {
  return position;
}
function putSent(position: u32): void {
  putRef(messageAt(orderedAt(firstSent + position)).cell);
}

function buildTransaction(row: u32, transaction: Transaction, variant: u8): void {
  const first = transaction.first;
  const received = <u32>transaction.received;
  const sent = transaction.messages - received;
  const cells = transaction.cells;
  const isSwapped = variant == GAS_SWAPPED;
  const reason = variant >= SKIPPED_FOR ? <u32>(variant - SKIPPED_FOR) : NONE;
  const description = buildDescription(row, cells, transaction.credit, isSwapped, variant == CREDIT_LEFT_OUT, reason);
  firstSent = first + received;
  const out = sent == 0 ? NONE : buildDictionary(sent, 15, cells + 6, indexOf, putSent);
  open(cells + 3);
  putMaybeRef(received > 0 ? messageAt(orderedAt(first)).cell : NONE);
  putMaybeRef(out);
  const messages = close();
  open(cells + 4);
  put(0x72, 8);
  putColumnHash(Tx.account_state_hash_before, row);
  putColumnHash(Tx.account_state_hash_after, row);
  const update = close();
  open(cells + 5);
  put(7, 4);
  putHash(transaction.account);
  put(amount(Tx.lt, row), 64);
  if (has(Tx.prev_trans_hash, row)) putColumnHash(Tx.prev_trans_hash, row);
  else putZeros();
  put(amount(Tx.prev_trans_lt, row), 64);
  putUint(<i64>amount(Tx.now, row), 32);
  put(sent, 15);
  putStatus(Tx.orig_status, row);
  putStatus(Tx.end_status, row);
  putRef(messages);
  putAmount(Tx.total_fees, row, 4);
  putMaybeRef(transaction.fees);
  putRef(update);
  putRef(description);
  close();
}

function putZeros(): void {
  for (let i = 0; i < 4; i++) put(0, 64);
}

/** `uninit` 00, `frozen` 01, `active` 10, `nonexist` 11. */
function putStatus(name: u32, row: u32): void {
  if (isText(name, row, 'uninit')) put(0, 2);
  else if (isText(name, row, 'frozen')) put(1, 2);
  else if (isText(name, row, 'active')) put(2, 2);
  else if (isText(name, row, 'nonexist')) put(3, 2);
  else setMisfit();
}
