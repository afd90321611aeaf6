// The messages of a batch, each named by its position among them.

import { reserveBuilt } from '../cells/builder';
import { NONE } from '../cells/cell-table';
import { Msg } from '../generated/numbering';
import { amount, areSame, sameHash } from './columns';

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

/** A message at work. Its hash, source and destination follow, 32 bytes each. */
@unmanaged
export class Message {
  /** Its cells; NONE if there is none. */
  cell: u32;
  body: u32;
  init: u32;
  extra: u32;
  /** The cell of its normal form. */
  normal: u32;
  /** The message before it whose cells it refers to; NONE if it has its own. */
  twin: u32;
  state: u8;
  kind: u8;
  /** The form to build next. */
  form: u8;
  /** True for the message that a transaction received. */
  isReceived: bool;
  hasSource: bool;
  sourceWorkchain: i8;
  destinationWorkchain: i8;
  hasOtherOpcode: bool;

  get hash(): usize {
    return changetype<usize>(this) + offsetof<Message>();
  }
  get source(): usize {
    return this.hash + 32;
  }
  get destination(): usize {
    return this.hash + 64;
  }
}
/** Bytes of a message. */
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

export function messageAt(position: u32): Message {
  return changetype<Message>(messages + <usize>position * MESSAGE);
}
export function rowOf(position: u32): u32 {
  return load<u32>(rows + ((<usize>position) << 2));
}
/** For the caller. */
export function stateOf(position: u32): u32 {
  return messageAt(position).state;
}

/** Logical time by which outgoing messages are sorted. */
export function createdOf(position: u32): u64 {
  return amount(Msg.created_lt, rowOf(position));
}

/** Time of a message that was sent. */
export function createdAtOf(position: u32): u64 {
  return amount(Msg.created_at, rowOf(position));
}

/** Makes room to find twins: 4 bytes for each of `slotCount`, a power of two that is greater than the number of messages. */
export function placeSlots(at: usize, slotCount: u32): void {
  slots = at;
  slotMask = slotCount - 1;
  memory.fill(at, 0, (<usize>slotCount) << 2);
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
  if (first.state != OPEN || first.kind != INTERNAL) return false;
  if (!areSame(Msg.source, Msg.init_state_boc, rowOf(before), rowOf(position))) return false;
  const isReceived = message.isReceived;
  memory.copy(changetype<usize>(message), changetype<usize>(first), MESSAGE);
  message.isReceived = isReceived;
  message.twin = before;
  return true;
}

/** Slots that are compared: hashes that begin alike are few, unless a server makes them. */
const MAX_SLOTS: u32 = 8;

/** The first message with the hash of one; NONE if there is none before it: then it is noted, if there is room. */
function withHash(position: u32): u32 {
  const hash = messageAt(position).hash;
  const slot = load<u32>(hash);
  for (let k: u32 = 0; k < MAX_SLOTS; k++) {
    const at = slots + ((<usize>((slot + k) & slotMask)) << 2);
    const found = load<u32>(at);
    if (found == 0) {
      store<u32>(at, position + 1);
      return NONE;
    }
    if (sameHash(messageAt(found - 1).hash, hash)) return found - 1;
  }
  return NONE;
}

/** Gives twins the state of the first one, which is decided. Only a cell that agrees can have two parents: others get one each. */
export function settleTwins(): void {
  for (let position: u32 = 0; position < messageCount; position++) {
    const message = messageAt(position);
    if (message.twin == NONE) continue;
    const first = messageAt(message.twin);
    message.state = first.state;
    message.hasOtherOpcode = first.hasOtherOpcode;
    if (first.state != AGREES) message.cell = reserveBuilt(1);
  }
}
