import { bitAt } from '../kernel/bits';
import { Block, fit, newBlock, takeZeros } from '../kernel/memory';
import { compare } from './bytes';
import { Dictionary, entryAt, entryLength } from './dictionary';
import { DECIMAL, INT32, INT64, Kind } from './kind';

/** Minimum and maximum in PLAIN encoding (texts without length). */
@unmanaged
export class Bounds {
  min: usize;
  minLength: usize;
  max: usize;
  maxLength: usize;
}

/** Those found last. */
export const bounds = changetype<Bounds>(takeZeros(offsetof<Bounds>()));

/** The booleans in PLAIN encoding. */
const truths = takeZeros(2);
store<u8>(truths, 1, 1);

/** The last page with each entry of a dictionary. */
const seen: Block = newBlock();
let page: u32 = 0;

/** Compares two values of a kind. Parquet's decimals are big-endian in two's complement: only the first byte is signed. */
function order(kind: Kind, a: usize, aLength: usize, b: usize, bLength: usize): i32 {
  if (kind == INT32) return <i32>(load<i32>(a) > load<i32>(b)) - <i32>(load<i32>(a) < load<i32>(b));
  if (kind == INT64) return <i32>(load<i64>(a) > load<i64>(b)) - <i32>(load<i64>(a) < load<i64>(b));
  if (kind == DECIMAL) {
    const first = <i64>bswap(load<u64>(a));
    const second = <i64>bswap(load<u64>(b));
    if (first != second) return first < second ? -1 : 1;
    return compare(a + 8, 8, b + 8, 8);
  }
  return compare(a, aLength, b, bLength);
}

function begin(at: usize, length: usize): void {
  bounds.min = at;
  bounds.minLength = length;
  bounds.max = at;
  bounds.maxLength = length;
}

function take(kind: Kind, at: usize, length: usize): void {
  if (order(kind, at, length, bounds.min, bounds.minLength) < 0) {
    bounds.min = at;
    bounds.minLength = length;
  } else if (order(kind, at, length, bounds.max, bounds.maxLength) > 0) {
    bounds.max = at;
    bounds.maxLength = length;
  }
}

/** @returns false without values, as the others here */
export function boundsOfBits(bits: usize, count: u32): bool {
  if (count == 0) return false;
  let ones: u32 = 0;
  for (let at: u32 = 0; at < count; at++) ones += <u32>bitAt(bits, at);
  begin(truths + <usize>(ones == count), 1);
  bounds.max = truths + <usize>(ones > 0);
  return true;
}

export function boundsOfNumbers(kind: Kind, values: usize, width: usize, count: u32): bool {
  if (count == 0) return false;
  begin(values, width);
  for (let i: usize = 1; i < count; i++) take(kind, values + i * width, width);
  return true;
}

export function boundsOfTexts(kind: Kind, values: usize, offsets: usize, from: u32, to: u32): bool {
  if (from == to) return false;
  for (let i: usize = from; i < to; i++) {
    const own = load<u32>(offsets + (i << 2));
    const length: usize = load<u32>(offsets + (i << 2), 4) - own;
    if (i == from) begin(values + own, length);
    else take(kind, values + own, length);
  }
  return true;
}

/** Bounds of the entries at some positions. */
export function boundsOfEntries(kind: Kind, own: Dictionary, positions: usize, from: u32, to: u32): bool {
  if (from == to) return false;
  const need = (<usize>own.size) << 2;
  if (need > seen.room) {
    fit(seen, need);
    memory.fill(seen.at, 0, seen.room);
  }
  page++;
  for (let i = from; i < to; i++) {
    const entry = load<u32>(positions + ((<usize>i) << 2));
    const mark = seen.at + ((<usize>entry) << 2);
    if (load<u32>(mark) == page) continue;
    store<u32>(mark, page);
    if (i == from) begin(entryAt(own, entry), entryLength(own, entry));
    else take(kind, entryAt(own, entry), entryLength(own, entry));
  }
  return true;
}
