// Cells of messages, rebuilt from their columns and compared with the hash that the API gives. It does not tell whether body and StateInit
// stand in the message or are referred to, so a message is built in its possible forms, one a round, until the hash agrees.
// TL-B: https://github.com/ton-blockchain/ton/blob/master/crypto/block/block.tlb

import { readBag } from '../cells/boc';
import {
  clearMisfit,
  close,
  hasMisfit,
  open,
  put,
  putBit,
  putHash,
  putInt,
  putRef,
  putSlice,
  putUint,
  putVarUint,
  reserveBuilt,
} from '../cells/builder';
import { bitsOf, cellAt, contentOf, depthOf, NONE, refCountOf, setDepth } from '../cells/cell-table';
import {
  amount,
  bytesAt,
  flag,
  has,
  isText,
  lastWorkchain,
  lengthAt,
  number,
  putAmount,
  readAddress,
  readHash,
  sameHash,
} from './columns';
import { buildExtra, MALFORMED, putExtra } from './extra-currencies';
import {
  MSG_BODY,
  MSG_BODY_HASH,
  MSG_BOUNCE,
  MSG_BOUNCED,
  MSG_CREATED_AT,
  MSG_CREATED_LT,
  MSG_DESTINATION,
  MSG_DIRECTION,
  MSG_EXTRA_FLAGS,
  MSG_EXTRA_VALUE,
  MSG_FWD_FEE,
  MSG_HASH,
  MSG_HASH_NORM,
  MSG_IHR_DISABLED,
  MSG_IHR_FEE,
  MSG_IMPORT_FEE,
  MSG_INIT,
  MSG_INIT_HASH,
  MSG_OPCODE,
  MSG_SOURCE,
  MSG_VALUE,
} from './fields';
import {
  AGREES,
  BODY,
  becomesTwin,
  CELL,
  CONTRADICTED,
  DESTINATION,
  DESTINATION_WORKCHAIN,
  EXTERNAL_IN,
  EXTERNAL_OUT,
  EXTRA,
  FORM,
  HAS_OTHER_OPCODE,
  HAS_SOURCE,
  HASH,
  INIT,
  INTERNAL,
  IS_RECEIVED,
  isHashed,
  isTwin,
  KIND,
  kindOf,
  MESSAGE,
  messageAt,
  messageCount,
  NORMAL,
  OPEN,
  rowOf,
  SOURCE,
  SOURCE_WORKCHAIN,
  STATE,
  setState,
  TWIN,
  UNKNOWN,
} from './message-table';

const other: usize = memory.data(32, 16);

/** True for an address that is there, but of a form whose bits the API does not give: `addr_extern`, `addr_var`. */
function isForeign(name: u32, row: u32): bool {
  return isText(name, row, 'addr_extern') || isText(name, row, 'addr_var');
}
function isNone(name: u32, row: u32): bool {
  return !has(name, row) || isText(name, row, 'addr_none');
}

/** Reads hashes, addresses and bags of all messages; the cells of the bags wait for their hashes. */
export function readMessages(): void {
  for (let position: u32 = 0; position < messageCount; position++) {
    const row = rowOf(position);
    const message = messageAt(position);
    memory.fill(message, 0, MESSAGE);
    const isIn = isText(MSG_DIRECTION, row, 'in');
    store<u8>(message, <u8>isIn, IS_RECEIVED);
    const isNamed = readHash(MSG_HASH, row, message + HASH) && (isIn || isText(MSG_DIRECTION, row, 'out'));
    if (isNamed && becomesTwin(position)) continue;
    store<u32>(message, NONE, TWIN);
    store<u32>(message, NONE, BODY);
    store<u32>(message, NONE, INIT);
    store<u32>(message, NONE, EXTRA);
    store<u32>(message, reserveBuilt(1), CELL);
    setState(message, isNamed ? readMessage(row, message) : CONTRADICTED);
  }
}

function readMessage(row: u32, message: usize): u8 {
  if (load<u32>(message, CELL) == NONE) return UNKNOWN;
  const isIn = !has(MSG_VALUE, row) && !has(MSG_CREATED_LT, row);
  const kind = isIn
    ? EXTERNAL_IN
    : isNone(MSG_DESTINATION, row) || isForeign(MSG_DESTINATION, row)
      ? EXTERNAL_OUT
      : INTERNAL;
  store<u8>(message, kind, KIND);
  const state = isForeign(MSG_SOURCE, row) || isForeign(MSG_DESTINATION, row) ? UNKNOWN : OPEN;
  if (!isNone(MSG_SOURCE, row) && !isForeign(MSG_SOURCE, row)) {
    if (kind == EXTERNAL_IN || !readAddress(MSG_SOURCE, row, message + SOURCE)) return CONTRADICTED;
    store<u8>(message, 1, HAS_SOURCE);
    store<i8>(message, <i8>lastWorkchain(), SOURCE_WORKCHAIN);
  }
  if (kind != EXTERNAL_OUT) {
    if (!readAddress(MSG_DESTINATION, row, message + DESTINATION)) return CONTRADICTED;
    store<i8>(message, <i8>lastWorkchain(), DESTINATION_WORKCHAIN);
  }
  const extra = buildExtra(MSG_EXTRA_VALUE, row);
  if (extra == MALFORMED || (extra != NONE && kind != INTERNAL)) return CONTRADICTED;
  store<u32>(message, extra, EXTRA);
  return readBags(row, message) ? state : CONTRADICTED;
}

function readBags(row: u32, message: usize): bool {
  if (has(MSG_BODY, row)) {
    const body = readBag(bytesAt(MSG_BODY, row), lengthAt(MSG_BODY, row));
    if (body < 0) return false;
    store<u32>(message, <u32>body, BODY);
  }
  if (has(MSG_INIT, row)) {
    const init = readBag(bytesAt(MSG_INIT, row), lengthAt(MSG_INIT, row));
    if (init < 0) return false;
    store<u32>(message, <u32>init, INIT);
  }
  if (load<u8>(message, KIND) == EXTERNAL_IN && has(MSG_HASH_NORM, row)) {
    store<u32>(message, reserveBuilt(1), NORMAL);
    if (load<u32>(message, NORMAL) == NONE) return false;
    buildNormal(message);
  } else if (has(MSG_HASH_NORM, row)) return false;
  return true;
}

/** The normalized form of an inbound external message: no source, no fee, no StateInit, body by reference. */
function buildNormal(message: usize): void {
  const body = load<u32>(message, BODY);
  open(load<u32>(message, NORMAL));
  put(8, 4);
  putAddress(load<i8>(message, DESTINATION_WORKCHAIN), message + DESTINATION);
  putVarUint(0, 4);
  put(1, 2);
  if (body != NONE) putRef(body);
  close();
}

/** Compares the parts of all messages that have hashes of their own; those of bags are known. */
export function compareParts(): void {
  for (let position: u32 = 0; position < messageCount; position++) {
    const row = rowOf(position);
    const message = messageAt(position);
    if (load<u8>(message, STATE) == CONTRADICTED || isTwin(message)) continue;
    const agrees =
      hasHash(row, MSG_BODY_HASH, load<u32>(message, BODY)) &&
      hasHash(row, MSG_INIT_HASH, load<u32>(message, INIT)) &&
      (!isHashed || !has(MSG_HASH_NORM, row) || hasHash(row, MSG_HASH_NORM, load<u32>(message, NORMAL)));
    if (!agrees) setState(message, CONTRADICTED);
    store<u8>(message, <u8>hasOtherOpcode(row, load<u32>(message, BODY)), HAS_OTHER_OPCODE);
  }
}

/** True if a column has the hash of a cell. Both may be missing, but a bag has a hash. */
function hasHash(row: u32, name: u32, cell: u32): bool {
  if (cell == NONE) return !has(name, row);
  return readHash(name, row, other) && sameHash(other, cellAt(cell));
}

function hasOtherOpcode(row: u32, body: u32): bool {
  if (body == NONE || bitsOf(cellAt(body)) < 32) return has(MSG_OPCODE, row);
  return !has(MSG_OPCODE, row) || <i32>number(MSG_OPCODE, row) != firstWord(body);
}

function firstWord(body: u32): i32 {
  return bswap(load<i32>(contentOf(cellAt(body)), 2));
}

/** True if the opcode of a message is not the first 32 bits of its body, or null if that has fewer. */
export function isOpcodeWrong(position: u32): bool {
  const message = messageAt(position);
  return load<u8>(message, HAS_OTHER_OPCODE) != 0 && load<u8>(message, STATE) != CONTRADICTED;
}

/** The first 32 bits of the body; -2^53 if it has fewer. */
export function opcodeOf(position: u32): f64 {
  const body = load<u32>(messageAt(position), BODY);
  if (body == NONE || bitsOf(cellAt(body)) < 32) return -9007199254740992;
  return <f64>firstWord(body);
}

function putAddress(workchain: i8, hash: usize): void {
  put(4, 3);
  putInt(workchain, 8);
  putHash(hash);
}

/** Numbers of forms: bit 0 body by reference, bit 1 StateInit in the message. */
const FORMS: u32 = 4;

/** Builds a form of a message. False if it does not fit. */
function build(row: u32, message: usize, form: u32): bool {
  const kind = load<u8>(message, KIND);
  open(load<u32>(message, CELL));
  if (kind == EXTERNAL_IN) {
    put(8, 4);
    putAddress(load<i8>(message, DESTINATION_WORKCHAIN), message + DESTINATION);
    putAmount(MSG_IMPORT_FEE, row, 4);
  } else {
    if (kind == INTERNAL) {
      putBit(false);
      putBit(flag(MSG_IHR_DISABLED, row));
      putBit(flag(MSG_BOUNCE, row));
      putBit(flag(MSG_BOUNCED, row));
    } else put(3, 2);
    if (load<u8>(message, HAS_SOURCE) != 0) putAddress(load<i8>(message, SOURCE_WORKCHAIN), message + SOURCE);
    else put(0, 2);
    if (kind == INTERNAL) {
      putAddress(load<i8>(message, DESTINATION_WORKCHAIN), message + DESTINATION);
      putAmount(MSG_VALUE, row, 4);
      putExtra(load<u32>(message, EXTRA));
      // Since version 12 of the network, the field of ihr_fee has been that of extra_flags.
      putAmount(has(MSG_EXTRA_FLAGS, row) ? MSG_EXTRA_FLAGS : MSG_IHR_FEE, row, 4);
      putAmount(MSG_FWD_FEE, row, 4);
    } else put(0, 2);
    put(amount(MSG_CREATED_LT, row), 64);
    putUint(<i64>amount(MSG_CREATED_AT, row), 32);
  }
  const init = load<u32>(message, INIT);
  const body = load<u32>(message, BODY);
  if (init == NONE) putBit(false);
  else if ((form & 2) != 0) {
    put(2, 2);
    if (!putSlice(init, 1)) return false;
  } else {
    put(3, 2);
    putRef(init);
  }
  putBit((form & 1) != 0);
  if ((form & 1) != 0) putRef(body);
  else if (body != NONE && !putSlice(body, 0)) return false;
  return true;
}

/** One round: compares the cells built by the last one, and builds the next form where they differ. Returns the number of cells that wait. */
export function buildMessages(): u32 {
  if (!isHashed) return 0;
  let waiting: u32 = 0;
  for (let position: u32 = 0; position < messageCount; position++) {
    const row = rowOf(position);
    const message = messageAt(position);
    if (load<u8>(message, STATE) != OPEN || isTwin(message)) continue;
    if (load<u8>(message, FORM) > 0 && sameHash(cellAt(load<u32>(message, CELL)), message + HASH)) {
      setState(message, AGREES);
      continue;
    }
    if (buildNext(row, message)) waiting++;
    else setState(message, load<u8>(message, KIND) == EXTERNAL_OUT ? UNKNOWN : CONTRADICTED);
  }
  return waiting;
}

function buildNext(row: u32, message: usize): bool {
  const body = load<u32>(message, BODY);
  const init = load<u32>(message, INIT);
  // An internal message usually refers to a body that has references.
  const first: u32 = load<u8>(message, KIND) == INTERNAL && body != NONE && refCountOf(cellAt(body)) > 0 ? 1 : 0;
  while (load<u8>(message, FORM) < FORMS) {
    const form = <u32>load<u8>(message, FORM) ^ first;
    store<u8>(message, load<u8>(message, FORM) + 1, FORM);
    // Nobody refers to an empty body.
    if (((form & 1) != 0 && body == NONE) || ((form & 2) != 0 && init == NONE)) continue;
    clearMisfit();
    if (!build(row, message, form)) continue;
    if (hasMisfit()) return false;
    close();
    return true;
  }
  return false;
}

/** Lets the hash that the API gives stand for the cell of an unknown message. */
export function claimHash(position: u32): void {
  const message = messageAt(position);
  const cell = cellAt(load<u32>(message, CELL));
  v128.store(cell, v128.load(message + HASH));
  v128.store(cell, v128.load(message + HASH, 16), 16);
}

/** Number of depths that an unknown message may have. */
export function depthsOf(position: u32): u32 {
  return kindOf(position) == INTERNAL ? 16 : 2;
}

/** Sets a depth of an unknown message: above its deeper part, as that, or, as it may have a StateInit that the API omits, more. */
export function guessDepth(position: u32, guess: u32): void {
  const message = messageAt(position);
  const body = load<u32>(message, BODY);
  const init = load<u32>(message, INIT);
  const deeper = max(body == NONE ? 0 : depthOf(cellAt(body)), init == NONE ? 0 : depthOf(cellAt(init)));
  setDepth(cellAt(load<u32>(message, CELL)), deeper + (guess < 2 ? 1 - guess : guess));
}

/** Gives up the proof of a message that is known to be incomplete: it is no contradiction. */
export function excuse(position: u32): void {
  const message = messageAt(position);
  if (load<u8>(message, STATE) == CONTRADICTED && load<u32>(message, CELL) != NONE) setState(message, UNKNOWN);
}
