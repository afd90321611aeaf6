// The messages of a batch, each named by its position among them.

import { reserveBuilt } from '../cells/builder';
import { NONE } from '../cells/cell-table';
import { amount, areSame, sameHash } from './columns';
import { MSG_CREATED_AT, MSG_CREATED_LT, MSG_INIT, MSG_SOURCE } from './fields';

/** Not decided yet. */
export const OPEN: u8 = 0;
/** The cell has the hash. */
export const AGREES: u8 = 1;
/** The cell cannot be rebuilt, for a reason that is no contradiction: the hash stands for it, and its depth is guessed. */
export const UNKNOWN: u8 = 2;
/** No form has the hash, or a part of the message contradicts another. */
export const CONTRADICTED: u8 = 3;

export const INTERNAL: u8 = 0;
export const EXTERNAL_IN: u8 = 1;
export const EXTERNAL_OUT: u8 = 2;

// Fields of a message at work: its cells; what was found, and its next form; its twin; 32 bytes each for hash, source and destination.
export const CELL: usize = 0;
export const BODY: usize = 4;
export const INIT: usize = 8;
export const EXTRA: usize = 12;
export const STATE: usize = 16;
export const KIND: usize = 17;
export const FORM: usize = 18;
export const IS_RECEIVED: usize = 19;
export const HAS_SOURCE: usize = 20;
export const SOURCE_WORKCHAIN: usize = 21;
export const DESTINATION_WORKCHAIN: usize = 22;
export const HAS_OTHER_OPCODE: usize = 23;
export const NORMAL: usize = 24;
export const TWIN: usize = 28;
export const HASH: usize = 32;
export const SOURCE: usize = 64;
export const DESTINATION: usize = 96;
export const MESSAGE: usize = 128;

let messages: usize = 0;
export let messageCount: u32 = 0;
/** The row of each. */
let rows: usize = 0;
/** Positions of messages + 1, by their hash. */
let slots: usize = 0;
let slotMask: u32 = 0;
/** True if the hashes are those of cells; else only bodies, StateInits and opcodes are checked. */
export let isHashed: bool = true;

export function placeMessages(at: usize, count: u32, rowsAt: usize, hashed: bool): void {
  isHashed = hashed;
  rows = rowsAt;
  messages = at;
  messageCount = count;
}

export function messageAt(position: u32): usize {
  return messages + <usize>position * MESSAGE;
}
export function rowOf(position: u32): u32 {
  return load<u32>(rows + ((<usize>position) << 2));
}
export function stateOf(position: u32): u8 {
  return load<u8>(messageAt(position), STATE);
}
export function kindOf(position: u32): u8 {
  return load<u8>(messageAt(position), KIND);
}
export function cellOf(position: u32): u32 {
  return load<u32>(messageAt(position), CELL);
}
export function sourceOf(position: u32): usize {
  return messageAt(position) + SOURCE;
}
export function destinationOf(position: u32): usize {
  return messageAt(position) + DESTINATION;
}
export function destinationWorkchainOf(position: u32): i32 {
  return load<i8>(messageAt(position), DESTINATION_WORKCHAIN);
}
export function sourceWorkchainOf(position: u32): i32 {
  return load<i8>(messageAt(position), SOURCE_WORKCHAIN);
}
export function hasSource(position: u32): bool {
  return load<u8>(messageAt(position), HAS_SOURCE) != 0;
}
export function setState(message: usize, state: u8): void {
  store<u8>(message, state, STATE);
}

/** True for the message that a transaction received. */
export function isReceived(position: u32): bool {
  return load<u8>(messageAt(position), IS_RECEIVED) != 0;
}

/** Logical time by which outgoing messages are sorted. */
export function createdOf(position: u32): u64 {
  return amount(MSG_CREATED_LT, rowOf(position));
}

/** Time of a message that was sent. */
export function createdAtOf(position: u32): u64 {
  return amount(MSG_CREATED_AT, rowOf(position));
}

/** Makes room to find twins: 4 bytes for each of `slotCount`, a power of two that is greater than the number of messages. */
export function placeSlots(at: usize, slotCount: u32): void {
  slots = at;
  slotMask = slotCount - 1;
  memory.fill(at, 0, (<usize>slotCount) << 2);
}

/** True for a message that refers to the cells of one before it. */
export function isTwin(message: usize): bool {
  return load<u32>(message, TWIN) != NONE;
}

/**
 * A message is there twice, where it was sent and where it was received. If one before it has the same hash, and all else that is read of
 * them is the same, it becomes its twin. False if not.
 */
export function becomesTwin(position: u32): bool {
  const before = withHash(position);
  if (before == NONE) return false;
  const message = messageAt(position);
  const first = messageAt(before);
  if (load<u8>(first, STATE) != OPEN || load<u8>(first, KIND) != INTERNAL) return false;
  if (!areSame(MSG_SOURCE, MSG_INIT, rowOf(before), rowOf(position))) return false;
  const received = load<u8>(message, IS_RECEIVED);
  memory.copy(message, first, MESSAGE);
  store<u8>(message, received, IS_RECEIVED);
  store<u32>(message, before, TWIN);
  return true;
}

/** Slots that are compared: hashes that begin alike are few, unless a server makes them. */
const MAX_SLOTS: u32 = 8;

/** The first message with the hash of one; NONE if there is none before it: then it is noted, if there is room. */
function withHash(position: u32): u32 {
  const hash = messageAt(position) + HASH;
  const slot = load<u32>(hash);
  for (let k: u32 = 0; k < MAX_SLOTS; k++) {
    const at = slots + ((<usize>((slot + k) & slotMask)) << 2);
    const found = load<u32>(at);
    if (found == 0) {
      store<u32>(at, position + 1);
      return NONE;
    }
    if (sameHash(messageAt(found - 1) + HASH, hash)) return found - 1;
  }
  return NONE;
}

/** Gives twins the state of the first one, which is decided. Only a cell that agrees can have two parents: others get one each. */
export function settleTwins(): void {
  for (let position: u32 = 0; position < messageCount; position++) {
    const message = messageAt(position);
    if (!isTwin(message)) continue;
    const first = messageAt(load<u32>(message, TWIN));
    const state = load<u8>(first, STATE);
    setState(message, state);
    store<u8>(message, load<u8>(first, HAS_OTHER_OPCODE), HAS_OTHER_OPCODE);
    if (state != AGREES) store<u32>(message, reserveBuilt(1), CELL);
  }
}
