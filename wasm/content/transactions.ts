// Cells of transactions, rebuilt from their columns and compared with the hash that the API gives. A cell contains the hashes of its messages.
// TL-B: https://github.com/ton-blockchain/ton/blob/master/crypto/block/block.tlb

import {
  clearMisfit,
  close,
  hasMisfit,
  open,
  put,
  putBit,
  putHash,
  putRef,
  putUint,
  reserveBuilt,
  setMisfit,
} from '../cells/builder';
import { cellAt, NONE } from '../cells/cell-table';
import { amount, flag, has, isText, lastWorkchain, putAmount, readAddress, readHash, sameHash } from './columns';
import { putLabel } from './dictionary';
import { buildExtra, MALFORMED, putExtra } from './extra-currencies';
import { hasSoundFacts } from './facts';
import {
  TX_ACCOUNT,
  TX_EMULATED,
  TX_END_STATUS,
  TX_EXTRA_CREDIT,
  TX_EXTRA_FEES,
  TX_GAS_FEES,
  TX_GAS_USED,
  TX_HASH,
  TX_LT,
  TX_NOW,
  TX_ORIG_STATUS,
  TX_PREV_HASH,
  TX_PREV_LT,
  TX_STATE_AFTER,
  TX_STATE_BEFORE,
  TX_TOTAL_FEES,
} from './fields';
import {
  CONTRADICTED,
  cellOf,
  createdAtOf,
  createdOf,
  destinationOf,
  destinationWorkchainOf,
  EXTERNAL_IN,
  hasSource,
  isReceived,
  kindOf,
  sourceOf,
  sourceWorkchainOf,
  stateOf,
  UNKNOWN,
} from './message-table';
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

// Fields of a transaction at work: its verdict; the variant to build next; its first message, their number, and whether one was received;
// its first cell; roots of extra currencies; if its last variant did
// not fit a cell; and 32 bytes each for hash and account.
const VERDICT: usize = 0;
const RECEIVED: usize = 1;
const TURN: usize = 2;
const FIRST: usize = 4;
const MESSAGES: usize = 8;
const CELLS: usize = 12;
const FEES: usize = 16;
const CREDIT: usize = 20;
const MISFIT: usize = 24;
const HASH: usize = 32;
const ACCOUNT: usize = 64;
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

function transactionAt(row: u32): usize {
  return transactions + <usize>(row - firstRow) * TRANSACTION;
}
function orderedAt(position: u32): u32 {
  return load<u32>(order + ((<usize>position) << 2));
}

/** The verdict on a transaction. */
export function verdictOf(row: u32): u32 {
  return load<u8>(transactionAt(row), VERDICT);
}

/** Gives each transaction its messages; `starts` has the position of the first of each, and of the end. */
export function assignMessages(starts: usize): void {
  const base = load<u32>(starts);
  for (let row = firstRow; row < endRow; row++, starts += 4) {
    const transaction = transactionAt(row);
    memory.fill(transaction, 0, TRANSACTION);
    const own = load<u32>(starts) - base;
    const size = load<u32>(starts, 4) - load<u32>(starts);
    store<u32>(transaction, own, FIRST);
    store<u32>(transaction, size, MESSAGES);
    let received: u32 = 0;
    for (let at = own; at < own + size; at++) {
      if (isReceived(at)) received++;
      place(transaction, at, received > 0);
    }
    store<u8>(transaction, <u8>min(received, 2), RECEIVED);
    if (size > MAX_MESSAGES + received) setVerdict(transaction, MANY_MESSAGES);
    else setVerdict(transaction, received > 1 ? CONTRADICTS : UNDECIDED);
  }
}

/** Inserts a message in its order; more than there may be are not sorted. */
function place(transaction: usize, message: u32, hasReceived: bool): void {
  const own = load<u32>(transaction, FIRST);
  let at = message;
  if (isReceived(message)) {
    for (; at > own && !isReceived(orderedAt(at - 1)); at--) store<u32>(order + ((<usize>at) << 2), orderedAt(at - 1));
  } else if (message - own <= MAX_MESSAGES) {
    const lowest = own + <u32>hasReceived;
    const created = createdOf(message);
    for (; at > lowest && createdOf(orderedAt(at - 1)) > created; at--)
      store<u32>(order + ((<usize>at) << 2), orderedAt(at - 1));
  }
  store<u32>(order + ((<usize>at) << 2), message);
}

function setVerdict(transaction: usize, verdict: u8): void {
  store<u8>(transaction, verdict, VERDICT);
}

/** Begins the transactions, whose messages are decided. */
export function openTransactions(): void {
  for (let row = firstRow; row < endRow; row++) {
    const transaction = transactionAt(row);
    if (load<u8>(transaction, VERDICT) == UNDECIDED) setVerdict(transaction, openTransaction(row, transaction));
  }
}

function openTransaction(row: u32, transaction: usize): u8 {
  const isHash = readHash(TX_HASH, row, transaction + HASH);
  if (!isHash || !readAddress(TX_ACCOUNT, row, transaction + ACCOUNT)) return CONTRADICTS;
  const workchain = lastWorkchain();
  const type = typeOf(row);
  if (type == UNKNOWN_TYPE) return CONTRADICTS;
  if (type == INSTALL) return UNKNOWN_KIND;
  const size = load<u32>(transaction, MESSAGES);
  if (!hasSoundFacts(row, load<u32>(transaction, FIRST), size)) return CONTRADICTS;
  for (let k: u32 = 0; k < size; k++) {
    const message = orderedAt(load<u32>(transaction, FIRST) + k);
    // Emulation omits the StateInit of a message.
    if (flag(TX_EMULATED, row)) excuse(message);
    if (stateOf(message) == CONTRADICTED || !isOwn(message, transaction + ACCOUNT, workchain)) return CONTRADICTS;
    if (stateOf(message) != UNKNOWN) continue;
    if (!isReceived(message) && !isSentThen(message, row, k + 1 - load<u8>(transaction, RECEIVED))) return CONTRADICTS;
    claimHash(message);
  }
  if (!isHashed) return UNHASHED;
  const cells = reserveBuilt(2 * size + 6);
  if (cells == NONE) return UNDECIDED;
  store<u32>(transaction, cells, CELLS);
  const fees = buildExtra(TX_EXTRA_FEES, row);
  const credit = buildExtra(TX_EXTRA_CREDIT, row);
  store<u32>(transaction, fees, FEES);
  store<u32>(transaction, credit, CREDIT);
  return fees == MALFORMED || credit == MALFORMED ? CONTRADICTS : UNDECIDED;
}

/** True if the account is the destination of the message that it received, or the source of one that it sent. */
function isOwn(message: u32, account: usize, workchain: i32): bool {
  if (isReceived(message)) {
    return destinationWorkchainOf(message) == workchain && sameHash(destinationOf(message), account);
  }
  if (kindOf(message) == EXTERNAL_IN) return false;
  return hasSource(message) && sourceWorkchainOf(message) == workchain && sameHash(sourceOf(message), account);
}

/** True if a message has the time of the transaction that sent it, and the logical time of its position among those. */
function isSentThen(message: u32, row: u32, position: u32): bool {
  return createdAtOf(message) == amount(TX_NOW, row) && createdOf(message) == amount(TX_LT, row) + position;
}

/** One round: compares the cells built by the last one, and builds the next variant where they differ. Returns the number of cells that wait. */
export function buildTransactions(): u32 {
  let waiting: u32 = 0;
  for (let row = firstRow; row < endRow; row++) {
    const transaction = transactionAt(row);
    if (load<u8>(transaction, VERDICT) != UNDECIDED) continue;
    const turn = load<u16>(transaction, TURN);
    if (turn > 0 && load<u8>(transaction, MISFIT) == 0 && sameHash(cellAt(lastCell(transaction)), transaction + HASH)) {
      setVerdict(transaction, variantOf(row, (turn - 1) / guessesOf(transaction)));
      continue;
    }
    const guesses = guessesOf(transaction);
    if (turn >= guesses * variantsOf(row)) {
      setVerdict(transaction, isBeyondGuesses(transaction) ? MANY_DEPTHS : CONTRADICTS);
      continue;
    }
    store<u16>(transaction, <u16>(turn + 1), TURN);
    guessDepths(transaction, turn % guesses);
    clearMisfit();
    buildTransaction(row, transaction, variantOf(row, turn / guesses));
    const isMisfit = hasMisfit();
    store<u8>(transaction, <u8>isMisfit, MISFIT);
    // No depth of a message makes it fit, but another variant may.
    if (isMisfit) store<u16>(transaction, <u16>((turn / guesses + 1) * guesses), TURN);
    waiting++;
  }
  return waiting;
}

function variantsOf(row: u32): u32 {
  if (lacksCompute(row)) return 4;
  return 1 + <u32>hasCredit(row) + <u32>isGasDifferent(row);
}
function isGasDifferent(row: u32): bool {
  return hasRun(row) && amount(TX_GAS_FEES, row) != amount(TX_GAS_USED, row);
}
/** What a variant shows if it has the hash: nothing is wrong, or which known error of sources is. */
function variantOf(row: u32, variant: u32): u8 {
  if (lacksCompute(row)) return SKIPPED_FOR + <u8>variant;
  if (variant == 0) return AGREES;
  return variant == 1 && hasCredit(row) ? CREDIT_LEFT_OUT : GAS_SWAPPED;
}

/** Combinations of the depths of messages whose cells are unknown. */
function combinationsOf(transaction: usize): u32 {
  let all: u32 = 1;
  const first = load<u32>(transaction, FIRST);
  for (let k: u32 = 0; k < load<u32>(transaction, MESSAGES); k++) {
    const message = orderedAt(first + k);
    if (stateOf(message) == UNKNOWN) all = min(all * depthsOf(message), MAX_GUESSES + 1);
  }
  return all;
}
function guessesOf(transaction: usize): u32 {
  return min(combinationsOf(transaction), MAX_GUESSES);
}
function isBeyondGuesses(transaction: usize): bool {
  return combinationsOf(transaction) > MAX_GUESSES;
}

/** Sets the depths of unknown messages. The second guess is the opposite of the first: messages of a transaction are usually alike. */
function guessDepths(transaction: usize, guess: u32): void {
  const first = load<u32>(transaction, FIRST);
  let rest = guess == 1 && guessesOf(transaction) > 2 ? 0xffffffff : guess > 1 ? guess - 1 : guess;
  for (let k: u32 = 0; k < load<u32>(transaction, MESSAGES); k++) {
    const message = orderedAt(first + k);
    if (stateOf(message) != UNKNOWN) continue;
    const depths = depthsOf(message);
    guessDepth(message, guess == 1 && rest == 0xffffffff ? 1 : rest % depths);
    if (rest != 0xffffffff) rest /= depths;
  }
}

/** The last of its cells is the transaction. */
function lastCell(transaction: usize): u32 {
  return load<u32>(transaction, CELLS) + 5;
}

let nextCell: u32 = 0;

function buildTransaction(row: u32, transaction: usize, variant: u8): void {
  const first = load<u32>(transaction, FIRST);
  const received = <u32>load<u8>(transaction, RECEIVED);
  const sent = load<u32>(transaction, MESSAGES) - received;
  const cells = load<u32>(transaction, CELLS);
  const credit = load<u32>(transaction, CREDIT);
  const isSwapped = variant == GAS_SWAPPED;
  const reason = variant >= SKIPPED_FOR ? <u32>(variant - SKIPPED_FOR) : NONE;
  const description = buildDescription(row, cells, credit, isSwapped, variant == CREDIT_LEFT_OUT, reason);
  nextCell = cells + 6;
  const out = sent == 0 ? NONE : dictionary(first + received, 0, sent, 15);
  open(cells + 3);
  putBit(received > 0);
  if (received > 0) putRef(cellOf(orderedAt(first)));
  putBit(out != NONE);
  if (out != NONE) putRef(out);
  const messages = close();
  open(cells + 4);
  put(0x72, 8);
  putColumnHash(TX_STATE_BEFORE, row);
  putColumnHash(TX_STATE_AFTER, row);
  const update = close();
  open(cells + 5);
  put(7, 4);
  putHash(transaction + ACCOUNT);
  put(amount(TX_LT, row), 64);
  if (has(TX_PREV_HASH, row)) putColumnHash(TX_PREV_HASH, row);
  else putZeros();
  put(amount(TX_PREV_LT, row), 64);
  putUint(<i64>amount(TX_NOW, row), 32);
  put(sent, 15);
  putStatus(TX_ORIG_STATUS, row);
  putStatus(TX_END_STATUS, row);
  putAmount(TX_TOTAL_FEES, row, 4);
  putExtra(load<u32>(transaction, FEES));
  putRef(messages);
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

/** The node of the keys from one to before another, which share all but their low `bits` bits; their messages follow `first`. */
function dictionary(first: u32, from: u32, to: u32, bits: u32): u32 {
  const rest = 32 - <u32>clz(from ^ (to - 1));
  const length = bits - rest;
  const prefix = (from & (((<u32>1) << bits) - 1)) >> rest;
  if (rest == 0) {
    open(nextCell++);
    putLabel(prefix, length, bits);
    putRef(cellOf(orderedAt(first + from)));
    return close();
  }
  const middle = ((to - 1) >> (rest - 1)) << (rest - 1);
  const left = dictionary(first, from, middle, rest - 1);
  const right = dictionary(first, middle, to, rest - 1);
  open(nextCell++);
  putLabel(prefix, length, bits);
  putRef(left);
  putRef(right);
  return close();
}
