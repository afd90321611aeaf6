import { Block, dropBlock, fit, newBlock, push, release, takeZeros } from '../kernel/memory';
import { isSame } from './bytes';

/** Number of values after which repetition is judged. */
const SAMPLE: u32 = 512;
/** Maximum probes per value, in case values were chosen to collide. */
const MAX_PROBES: i64 = 8;
/** Maximum size of a dictionary page before compression, in bytes: readers load it for a single row. */
const MAX_BYTES: usize = 2 << 20;
/** Longer values are hashed by four of their words: different values mostly share no more than a prefix. */
const LONG_HASH: usize = 16;
const START_SLOTS: u32 = 1024;

/** The distinct values of a column chunk, in order of first appearance. */
@unmanaged
export class Dictionary {
  /** Bytes of a value; 0 for texts. */
  width: u32;
  size: u32;
  /** Size before the current batch. */
  before: u32;
  /** True while the entries of another dictionary are added, which stay if there is space. */
  isGiven: bool;
  /** Entry + 1 by hash; 0 is a free slot. */
  slots: usize;
  mask: u32;
  hashes: Block;
  /** PLAIN encoding. */
  values: Block;
  /** Positions of texts in `values`, after their lengths. */
  places: Block;
}

/** Positions of the values of one batch. */
export const positions: Block = newBlock();

export function newDictionary(width: u32): Dictionary {
  const own = changetype<Dictionary>(takeZeros(offsetof<Dictionary>()));
  own.width = width;
  own.mask = START_SLOTS - 1;
  own.slots = takeZeros((<usize>START_SLOTS) << 2);
  own.hashes = newBlock();
  own.values = newBlock();
  own.places = newBlock();
  return own;
}

export function dropDictionary(own: Dictionary): void {
  release(own.slots, (<usize>own.mask + 1) << 2);
  dropBlock(own.hashes);
  dropBlock(own.values);
  dropBlock(own.places);
  release(changetype<usize>(own), offsetof<Dictionary>());
}

/** Bit width of a position. */
export function bitsOf(own: Dictionary): u32 {
  return max<u32>(1, 32 - <u32>clz<u32>(own.size - 1));
}

/** Address of an entry's value, without its length. */
export function entryAt(own: Dictionary, entry: u32): usize {
  if (own.width > 0) return own.values.at + <usize>entry * own.width;
  return own.values.at + load<u32>(own.places.at + ((<usize>entry) << 2));
}

export function entryLength(own: Dictionary, entry: u32): usize {
  return own.width > 0 ? <usize>own.width : <usize>load<u32>(entryAt(own, entry) - 4);
}

/**
 * Sets `positions` to those of some values, which it adds: numbers at `values`, or texts between offsets.
 *
 * @returns false if a dictionary no longer pays off: then its entries are those before, and no batch may follow
 */
export function addValues(own: Dictionary, values: usize, offsets: usize, count: u32, isGiven: bool): bool {
  own.isGiven = isGiven;
  own.before = own.size;
  probes = MAX_PROBES * <i64>count;
  const bytesBefore = own.values.size;
  const into = fit(positions, (<usize>count) << 2);
  const isFound = own.width > 0 ? findNumbers(own, values, count, into) : findTexts(own, values, offsets, count, into);
  const plain: usize =
    own.width > 0
      ? <usize>count * own.width
      : ((<usize>count) << 2) + load<u32>(offsets + ((<usize>count) << 2)) - load<u32>(offsets);
  const added = own.values.size - bytesBefore;
  // At most three quarters of the size in PLAIN encoding.
  const pays = isGiven || 8 * <u64>added + <u64>count * bitsOf(own) <= 6 * <u64>plain;
  if (isFound && pays && own.values.size <= MAX_BYTES) return true;
  own.size = own.before;
  own.values.size = bytesBefore;
  return false;
}

/** True if another new value at this position of the batch makes the dictionary too large to pay off. */
function isTooMany(own: Dictionary, row: u32, count: u32): bool {
  if (own.isGiven) return false;
  const added = own.size - own.before;
  return added >= max<u32>(1, count >> 1) || (row >= SAMPLE && 4 * <u64>added > 3 * <u64>row);
}

/** Adds an entry; the caller adds its value. */
function enter(own: Dictionary, slot: usize, hash: u32): void {
  store<u32>(push(own.hashes, 4), hash);
  own.size++;
  store<u32>(own.slots + (slot << 2), own.size);
  if (own.size * 2 > own.mask + 1) rehash(own);
}

function rehash(own: Dictionary): void {
  const before = (<usize>own.mask + 1) << 2;
  release(own.slots, before);
  own.slots = takeZeros(before << 2);
  own.mask = <u32>before - 1;
  for (let entry: u32 = 0; entry < own.size; entry++) {
    let slot: usize = load<u32>(own.hashes.at + ((<usize>entry) << 2)) & own.mask;
    while (load<u32>(own.slots + (slot << 2)) != 0) slot = (slot + 1) & own.mask;
    store<u32>(own.slots + (slot << 2), entry + 1);
  }
}

/** Probes left for a batch. */
let probes: i64 = 0;

/** Number of the entry with a value, which is added if it is new; 0 if a dictionary no longer pays off. */
function entryOf(own: Dictionary, hash: u32, at: usize, length: usize, row: u32, count: u32): u32 {
  let slot: usize = hash & own.mask;
  let entry = load<u32>(own.slots + (slot << 2));
  while (entry != 0 && !isEntry(own, entry - 1, hash, at, length)) {
    if (--probes < 0) return 0;
    slot = (slot + 1) & own.mask;
    entry = load<u32>(own.slots + (slot << 2));
  }
  if (entry != 0) return entry;
  if (isTooMany(own, row, count)) return 0;
  enter(own, slot, hash);
  if (own.width > 0) memory.copy(push(own.values, length), at, length);
  else addText(own, at, length);
  return own.values.size > MAX_BYTES ? 0 : own.size;
}

function findNumbers(own: Dictionary, values: usize, count: u32, into: usize): bool {
  const width: usize = own.width;
  let entry: u32 = 0;
  for (let row: u32 = 0; row < count; row++) {
    const at = values + <usize>row * width;
    if (row == 0 || !isSame(at, at - width, width)) {
      entry = entryOf(own, finish(hashNumber(at, width)), at, width, row, count);
      if (entry == 0) return false;
    }
    store<u32>(into + ((<usize>row) << 2), entry - 1);
  }
  return true;
}

function findTexts(own: Dictionary, values: usize, offsets: usize, count: u32, into: usize): bool {
  let entry: u32 = 0;
  let before: usize = 0;
  let beforeLength: usize = usize.MAX_VALUE;
  for (let row: u32 = 0; row < count; row++) {
    const from = load<u32>(offsets + ((<usize>row) << 2));
    const at = values + from;
    const length: usize = load<u32>(offsets + ((<usize>row) << 2), 4) - from;
    if (length != beforeLength || !isSame(at, before, length)) {
      entry = entryOf(own, finish(hashText(at, length)), at, length, row, count);
      if (entry == 0) return false;
    }
    before = at;
    beforeLength = length;
    store<u32>(into + ((<usize>row) << 2), entry - 1);
  }
  return true;
}

function addText(own: Dictionary, at: usize, length: usize): void {
  const places = fit(own.places, (<usize>own.size) << 2);
  store<u32>(places + ((<usize>own.size - 1) << 2), <u32>own.values.size + 4);
  const to = push(own.values, length + 4);
  store<u32>(to, <u32>length);
  memory.copy(to + 4, at, length);
}

function isEntry(own: Dictionary, entry: u32, hash: u32, at: usize, length: usize): bool {
  if (load<u32>(own.hashes.at + ((<usize>entry) << 2)) != hash || entryLength(own, entry) != length) return false;
  return isSame(entryAt(own, entry), at, length);
}

function mix(hash: u32, word: u32): u32 {
  const mixed = (hash ^ word) * 0x9e3779b1;
  return mixed ^ (mixed >> 15);
}

function finish(hash: u32): u32 {
  const mixed = (hash ^ (hash >> 16)) * 0x85ebca6b;
  return mixed ^ (mixed >> 13);
}

function hashNumber(at: usize, width: usize): u32 {
  let hash: u32 = 0;
  for (let word: usize = 0; word < width; word += 4) hash = mix(hash, load<u32>(at + word));
  return hash;
}

function hashText(from: usize, length: usize): u32 {
  let hash = <u32>length;
  if (length < 4) {
    let word: u32 = 0;
    for (let i = length; i > 0; i--) word = (word << 8) | load<u8>(from + i - 1);
    return mix(hash, word);
  }
  const end = from + length - 4;
  if (length <= LONG_HASH) {
    for (let at = from; at < end; at += 4) hash = mix(hash, load<u32>(at));
  } else {
    hash = mix(hash, load<u32>(from));
    hash = mix(hash, load<u32>(from + (length >> 1)));
    hash = mix(hash, load<u32>(end - 4));
  }
  return mix(hash, load<u32>(end));
}
