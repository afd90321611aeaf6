import type { Arena } from '../decode/arena.ts';
import type { Vector } from '../decode/batch.ts';
import { copyBytes } from '../decode/bytes.ts';
import { bitsOf, MOST_BYTES, packBits, putVarint, putZigzag } from './bit-packing.ts';
import { isSet } from './plain-values.ts';

/** Non-null texts or bytes: value `i` is from `offsets[i]` to `offsets[i + 1]`. */
export interface ByteValues {
  readonly count: number;
  /** `count + 1` offsets. */
  readonly offsets: Int32Array;
  readonly bytes: Uint8Array;
}

/** The non-null values of a column, in the memory of the vector. */
export function byteValues({ validity, nullCount, offsets, values }: Vector, rows: number, arena: Arena): ByteValues {
  const count = rows - nullCount;
  const all = offsets ?? new Int32Array(rows + 1);
  if (nullCount === 0) return { count, offsets: all, bytes: values };
  const dense = arena.ints(count + 1);
  let found = 0;
  for (let row = 0; row < rows; row++) {
    if (isSet(validity, row)) dense[found++] = all[row] as number;
  }
  dense[count] = all[rows] as number;
  return { count, offsets: dense, bytes: values };
}

/** Length of a value in bytes. */
export function lengthAt(offsets: Int32Array, at: number): number {
  return (offsets[at + 1] as number) - (offsets[at] as number);
}

/** Size of the values in PLAIN encoding, in bytes. */
export function plainSize({ count, offsets }: ByteValues): number {
  return 4 * count + (offsets[count] as number) - (offsets[0] as number);
}

/** Parquet's PLAIN encoding. */
export function encodePlain(values: ByteValues, arena: Arena): Uint8Array {
  const { count, offsets, bytes } = values;
  const out = arena.take(plainSize(values));
  const target = new DataView(out.buffer, out.byteOffset);
  const source = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // Word copies may exceed the last value; the arena has slack for them.
  const safe = bytes.byteLength - 3;
  let at = 0;
  for (let i = 0; i < count; i++) {
    const from = offsets[i] as number;
    const to = offsets[i + 1] as number;
    const length = to - from;
    target.setInt32(at, length, true);
    at += 4;
    if (to >= safe) out.set(bytes.subarray(from, to), at);
    else copyBytes(out, target, at, bytes, source, from, length);
    at += length;
  }
  return out;
}

/** Values per block, and per miniblock with its own bit width. */
const BLOCK = 128;
const PARTS = 4;
const PART = BLOCK / PARTS;

const deltas = new Int32Array(BLOCK);

/**
 * Parquet's DELTA_LENGTH_BYTE_ARRAY: all lengths, then all bytes, without a copy. For DuckDB only: Spark 3.5 silently reads wrong
 * values if a column has nulls or more than 4,096 rows.
 */
export function encodeDeltaLength(values: ByteValues, arena: Arena): readonly Uint8Array[] {
  const { count, offsets, bytes } = values;
  return [encodeLengths(offsets, count, arena), bytes.subarray(offsets[0], offsets[count])];
}

/** Parquet's DELTA_BINARY_PACKED of the lengths between offsets. */
function encodeLengths(offsets: Int32Array, count: number, arena: Arena): Uint8Array {
  const blocks = Math.ceil(count / BLOCK);
  const out = arena.take(4 * MOST_BYTES + blocks * (MOST_BYTES + PARTS + BLOCK * 4));
  let before = count === 0 ? 0 : lengthAt(offsets, 0);
  let at = putVarint(out, 0, BLOCK);
  at = putVarint(out, at, PARTS);
  at = putVarint(out, at, count);
  at = putZigzag(out, at, before);
  for (let first = 1; first < count; first += BLOCK) {
    const size = Math.min(BLOCK, count - first);
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < size; i++) {
      const length = lengthAt(offsets, first + i);
      const delta = length - before;
      deltas[i] = delta;
      if (delta < least) least = delta;
      before = length;
    }
    at = putZigzag(out, at, least);
    at = encodeBlock(size, least, out, at);
  }
  return out.subarray(0, at);
}

/** Writes the bit widths of the miniblocks, then their deltas above the minimum. */
function encodeBlock(size: number, least: number, out: Uint8Array, widths: number): number {
  let at = widths + PARTS;
  for (let part = 0; part < PARTS; part++) {
    const from = part * PART;
    const to = Math.max(from, Math.min(size, from + PART));
    let all = 0;
    for (let i = from; i < to; i++) {
      const above = (deltas[i] as number) - least;
      deltas[i] = above;
      all |= above;
    }
    const bits = bitsOf(all);
    out[widths + part] = bits;
    if (bits > 0) at = packBits(deltas, from, to, from + PART, bits, out, at);
  }
  return at;
}
