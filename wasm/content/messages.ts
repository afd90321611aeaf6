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
  putMaybeRef,
  putRef,
  putSlice,
  putUint,
  putVarUint,
  reserveBuilt,
} from '../cells/builder';
import { bitsOf, cellAt, contentOf, depthOf, NONE, refCountOf, setDepth } from '../cells/cell-table';
import { levelsOf } from '../cells/levels';
import { Msg } from '../generated/numbering';
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
import { buildExtra, MALFORMED } from './extra-currencies';
import {
  AGREES,
  becomesTwin,
  CONTRADICTED,
  EXTERNAL_IN,
  EXTERNAL_OUT,
  INTERNAL,
  isHashed,
  MESSAGE,
  Message,
  messageAt,
  messageCount,
  OPEN,
  rowOf,
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
    memory.fill(changetype<usize>(message), 0, MESSAGE);
    const isIn = isText(Msg.direction, row, 'in');
    message.isReceived = isIn;
    const isNamed = readHash(Msg.msg_hash, row, message.hash) && (isIn || isText(Msg.direction, row, 'out'));
    if (isNamed && becomesTwin(position)) continue;
    message.twin = NONE;
    message.body = NONE;
    message.init = NONE;
    message.extra = NONE;
    message.cell = reserveBuilt(1);
    message.state = isNamed ? readMessage(row, message) : CONTRADICTED;
  }
}

function readMessage(row: u32, message: Message): u8 {
  if (message.cell == NONE) return UNKNOWN;
  const isIn = !has(Msg.value, row) && !has(Msg.created_lt, row);
  const kind = isIn
    ? EXTERNAL_IN
    : isNone(Msg.destination, row) || isForeign(Msg.destination, row)
      ? EXTERNAL_OUT
      : INTERNAL;
  message.kind = kind;
  const state = isForeign(Msg.source, row) || isForeign(Msg.destination, row) ? UNKNOWN : OPEN;
  if (!isNone(Msg.source, row) && !isForeign(Msg.source, row)) {
    if (kind == EXTERNAL_IN || !readAddress(Msg.source, row, message.source)) return CONTRADICTED;
    message.hasSource = true;
    message.sourceWorkchain = <i8>lastWorkchain();
  }
  if (kind != EXTERNAL_OUT) {
    if (!readAddress(Msg.destination, row, message.destination)) return CONTRADICTED;
    message.destinationWorkchain = <i8>lastWorkchain();
  }
  const extra = buildExtra(Msg.value_extra_currencies, row);
  if (extra == MALFORMED || (extra != NONE && kind != INTERNAL)) return CONTRADICTED;
  message.extra = extra;
  return readBags(row, message) ? state : CONTRADICTED;
}

/** The root of a bag; NONE if a message cannot have it: the chain has no pruned branches outside of Merkle proofs. */
function rootIn(name: u32, row: u32): u32 {
  const root = readBag(bytesAt(name, row), lengthAt(name, row));
  return root < 0 || levelsOf(cellAt(<u32>root)) > 0 ? NONE : <u32>root;
}

function readBags(row: u32, message: Message): bool {
  if (has(Msg.body_boc, row)) {
    message.body = rootIn(Msg.body_boc, row);
    if (message.body == NONE) return false;
  }
  if (has(Msg.init_state_boc, row)) {
    message.init = rootIn(Msg.init_state_boc, row);
    if (message.init == NONE) return false;
  }
  if (message.kind == EXTERNAL_IN && has(Msg.msg_hash_norm, row)) {
    message.normal = reserveBuilt(1);
    if (message.normal == NONE) return false;
    buildNormal(message);
  } else if (has(Msg.msg_hash_norm, row)) return false;
  return true;
}

/** The normalized form of an inbound external message: no source, no fee, no StateInit, body by reference. */
function buildNormal(message: Message): void {
  const body = message.body;
  open(message.normal);
  put(8, 4);
  putAddress(message.destinationWorkchain, message.destination);
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
    if (message.state == CONTRADICTED || message.twin != NONE) continue;
    const agrees =
      hasHash(row, Msg.body_hash, message.body) &&
      hasHash(row, Msg.init_state_hash, message.init) &&
      (!isHashed || !has(Msg.msg_hash_norm, row) || hasHash(row, Msg.msg_hash_norm, message.normal));
    if (!agrees) message.state = CONTRADICTED;
    message.hasOtherOpcode = hasOtherOpcode(row, message.body);
  }
}

/** True if a column has the hash of a cell. Both may be missing, but a bag has a hash. */
function hasHash(row: u32, name: u32, cell: u32): bool {
  if (cell == NONE) return !has(name, row);
  return readHash(name, row, other) && sameHash(other, cellAt(cell));
}

function hasOtherOpcode(row: u32, body: u32): bool {
  if (body == NONE || bitsOf(cellAt(body)) < 32) return has(Msg.opcode, row);
  return !has(Msg.opcode, row) || <i32>number(Msg.opcode, row) != firstWord(body);
}

function firstWord(body: u32): i32 {
  return bswap(load<i32>(contentOf(cellAt(body)), 2));
}

/** True if the opcode of a message is not the first 32 bits of its body, or null if that has fewer. */
export function isOpcodeWrong(position: u32): bool {
  const message = messageAt(position);
  return message.hasOtherOpcode && message.state != CONTRADICTED;
}

/** The first 32 bits of the body; -2^53 if it has fewer. */
export function opcodeOf(position: u32): f64 {
  const body = messageAt(position).body;
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
function build(row: u32, message: Message, form: u32): bool {
  const kind = message.kind;
  open(message.cell);
  if (kind == EXTERNAL_IN) {
    put(8, 4);
    putAddress(message.destinationWorkchain, message.destination);
    putAmount(Msg.import_fee, row, 4);
  } else {
    if (kind == INTERNAL) {
      putBit(false);
      putBit(flag(Msg.ihr_disabled, row));
      putBit(flag(Msg.bounce, row));
      putBit(flag(Msg.bounced, row));
    } else put(3, 2);
    if (message.hasSource) putAddress(message.sourceWorkchain, message.source);
    else put(0, 2);
    if (kind == INTERNAL) {
      putAddress(message.destinationWorkchain, message.destination);
      putAmount(Msg.value, row, 4);
      putMaybeRef(message.extra);
      // Since version 12 of the network, the field of ihr_fee has been that of extra_flags.
      putAmount(has(Msg.extra_flags, row) ? Msg.extra_flags : Msg.ihr_fee, row, 4);
      putAmount(Msg.fwd_fee, row, 4);
    } else put(0, 2);
    put(amount(Msg.created_lt, row), 64);
    putUint(<i64>amount(Msg.created_at, row), 32);
  }
  const init = message.init;
  const body = message.body;
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
    if (message.state != OPEN || message.twin != NONE) continue;
    if (message.form > 0 && sameHash(cellAt(message.cell), message.hash)) {
      message.state = AGREES;
      continue;
    }
    if (buildNext(row, message)) waiting++;
    else message.state = message.kind == EXTERNAL_OUT ? UNKNOWN : CONTRADICTED;
  }
  return waiting;
}

function buildNext(row: u32, message: Message): bool {
  const body = message.body;
  const init = message.init;
  // An internal message usually refers to a body that has references.
  const first: u32 = message.kind == INTERNAL && body != NONE && refCountOf(cellAt(body)) > 0 ? 1 : 0;
  while (message.form < FORMS) {
    const form = <u32>message.form ^ first;
    message.form = message.form + 1;
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
  const cell = cellAt(message.cell);
  v128.store(cell, v128.load(message.hash));
  v128.store(cell, v128.load(message.hash, 16), 16);
}

/** Number of depths that an unknown message may have. */
export function depthsOf(position: u32): u32 {
  return messageAt(position).kind == INTERNAL ? 16 : 2;
}

/** Sets a depth of an unknown message: above its deeper part, as that, or, as it may have a StateInit that the API omits, more. */
export function guessDepth(position: u32, guess: u32): void {
  const message = messageAt(position);
  const body = message.body;
  const init = message.init;
  const deeper = max(body == NONE ? 0 : depthOf(cellAt(body)), init == NONE ? 0 : depthOf(cellAt(init)));
  setDepth(cellAt(message.cell), deeper + (guess < 2 ? 1 - guess : guess));
}

/** Gives up the proof of a message that is known to be incomplete: it is no contradiction. */
export function excuse(position: u32): void {
  const message = messageAt(position);
  if (message.state == CONTRADICTED && message.cell != NONE) message.state = UNKNOWN;
}
