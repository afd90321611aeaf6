/** Bloom filters of Parquet: split blocks, xxHash64. */

import { Block, push } from '../kernel/memory';

const P1: u64 = 0x9e3779b185ebca87;
const P2: u64 = 0xc2b2ae3d27d4eb4f;
const P3: u64 = 0x165667b19e3779f9;
const P4: u64 = 0x85ebca77c2b2ae63;
const P5: u64 = 0x27d4eb2f165667c5;

const BLOCK_BYTES: u64 = 32;

/** Constants of the format. */
const salts = memory.data<u32>([
  0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
]);

/**
 * Adds the xxHash64 with seed 0 of `count` values in PLAIN encoding.
 *
 * @param width bytes of a value; 0 if each is preceded by its length
 */
export function addHashes(hashes: Block, values: usize, count: u32, width: u32): void {
  let at = values;
  let to = push(hashes, (<usize>count) << 3);
  for (let i: u32 = 0; i < count; i++) {
    let length: usize = width;
    if (width == 0) {
      length = load<u32>(at);
      at += 4;
    }
    store<u64>(to, hashOf(at, length));
    to += 8;
    at += length;
  }
}

/** Sets the bits of all hashes in a filter of `bytes` zeros, a power of two. */
export function fillFilter(hashes: Block, filter: usize, bytes: usize): void {
  const blocks = <u64>bytes / BLOCK_BYTES;
  for (let at: usize = 0; at < hashes.size; at += 8) {
    const hash = load<u64>(hashes.at + at);
    // The high half selects the block.
    const block = filter + <usize>((((hash >> 32) * blocks) >> 32) * BLOCK_BYTES);
    for (let word: usize = 0; word < 32; word += 4) {
      const bit: u32 = 1 << ((<u32>hash * load<u32>(salts + word)) >> 27);
      store<u32>(block + word, load<u32>(block + word) | bit);
    }
  }
}

function round(lane: u64, word: u64): u64 {
  return rotl(lane + word * P2, 31) * P1;
}

function merge(hash: u64, lane: u64): u64 {
  return (hash ^ round(0, lane)) * P1 + P4;
}

function hashOf(from: usize, length: usize): u64 {
  const end = from + length;
  let at = from;
  let hash = P5;
  if (length >= 32) {
    let a: u64 = P1 + P2;
    let b: u64 = P2;
    let c: u64 = 0;
    let d: u64 = 0 - P1;
    for (; at + 32 <= end; at += 32) {
      a = round(a, load<u64>(at));
      b = round(b, load<u64>(at, 8));
      c = round(c, load<u64>(at, 16));
      d = round(d, load<u64>(at, 24));
    }
    hash = rotl(a, 1) + rotl(b, 7) + rotl(c, 12) + rotl(d, 18);
    hash = merge(merge(merge(merge(hash, a), b), c), d);
  }
  hash += length;
  for (; at + 8 <= end; at += 8) hash = rotl(hash ^ round(0, load<u64>(at)), 27) * P1 + P4;
  if (at + 4 <= end) {
    hash = rotl(hash ^ (<u64>load<u32>(at) * P1), 23) * P2 + P3;
    at += 4;
  }
  for (; at < end; at++) hash = rotl(hash ^ (<u64>load<u8>(at) * P5), 11) * P1;
  hash = (hash ^ (hash >> 33)) * P2;
  hash = (hash ^ (hash >> 29)) * P3;
  return hash ^ (hash >> 32);
}
