import { Block, newBlock, push } from './memory';

/** A record that does not match the declaration. */
@unmanaged
class Refused {
  /** Index in the list of records. */
  index: u32;
  /** Number of the key at which it was refused, or -1. */
  key: i32;
  /** The record as received, in `raw`. */
  from: usize;
  length: usize;
}

const list: Block = newBlock();
const raw: Block = newBlock();

export function clearRefused(): void {
  list.size = 0;
  raw.size = 0;
}

/** Keeps a record as received, and returns its place. */
export function keepRaw(from: usize, to: usize): usize {
  const place = raw.size;
  memory.copy(push(raw, to - from), from, to - from);
  return place;
}

export function dropRaw(place: usize): void {
  raw.size = place;
}

export function addRefused(index: u32, key: i32, from: usize, length: usize): void {
  const one = changetype<Refused>(push(list, offsetof<Refused>()));
  one.index = index;
  one.key = key;
  one.from = from;
  one.length = length;
}

/** Number of records of the last page that were refused. */
export function refusedCount(): u32 {
  return <u32>(list.size / offsetof<Refused>());
}

/** Index, key, start and length of a refused record, as 32-bit numbers. */
export function refusedAt(i: u32): usize {
  return list.at + i * offsetof<Refused>();
}

export function refusedTexts(): usize {
  return raw.at;
}
