import { compareBytes } from '../decode/bytes.ts';
import { type ByteValues, lengthAt } from './byte-values.ts';
import type { Numeric } from './plain-values.ts';

/** Least and greatest value in Parquet's PLAIN encoding (texts and bytes without their length). */
export interface Bounds {
  readonly min: Uint8Array;
  readonly max: Uint8Array;
}

/** Longer texts have no bounds: a footer holds them for every column of every row group. */
const LONGEST = 256;

/**
 * The bounds of numbers in PLAIN encoding.
 *
 * @param values starts at a multiple of 4 bytes
 * @returns undefined without values
 */
export function boundsOfNumbers(physical: Numeric, values: Uint8Array, count: number): Bounds | undefined {
  if (count === 0) return undefined;
  switch (physical) {
    case 'int32':
      return pick(values, 4, boundsOf32(asInts(values), count));
    case 'int64':
      return pick(values, 8, boundsOf64(asInts(values), count));
    case 'decimal128':
      return pick(values, 16, boundsOf128(values, count));
  }
}

/** Positions of the least and the greatest value. */
interface Places {
  readonly min: number;
  readonly max: number;
}

function pick(values: Uint8Array, width: number, { min, max }: Places): Bounds {
  return {
    min: copy(values, min * width, (min + 1) * width),
    max: copy(values, max * width, (max + 1) * width),
  };
}

function copy(bytes: Uint8Array, from: number, to: number): Uint8Array {
  return new Uint8Array(bytes.subarray(from, to));
}

function asInts(values: Uint8Array): Int32Array {
  return new Int32Array(values.buffer, values.byteOffset, values.byteLength >> 2);
}

function boundsOf32(words: Int32Array, count: number): Places {
  let min = 0;
  let max = 0;
  for (let at = 1; at < count; at++) {
    const value = words[at] as number;
    if (value < (words[min] as number)) min = at;
    if (value > (words[max] as number)) max = at;
  }
  return { min, max };
}

function boundsOf64(words: Int32Array, count: number): Places {
  let min = 0;
  let max = 0;
  for (let at = 1; at < count; at++) {
    if (compare64(words, at, min) < 0) min = at;
    else if (compare64(words, at, max) > 0) max = at;
  }
  return { min, max };
}

function compare64(words: Int32Array, a: number, b: number): number {
  const high = (words[2 * a + 1] as number) - (words[2 * b + 1] as number);
  return high === 0 ? ((words[2 * a] as number) >>> 0) - ((words[2 * b] as number) >>> 0) : high;
}

/** Big-endian two's complement: all bytes are unsigned but the first. */
function boundsOf128(values: Uint8Array, count: number): Places {
  let min = 0;
  let max = 0;
  for (let at = 1; at < count; at++) {
    if (compare128(values, at * 16, min * 16) < 0) min = at;
    else if (compare128(values, at * 16, max * 16) > 0) max = at;
  }
  return { min, max };
}

function compare128(values: Uint8Array, a: number, b: number): number {
  const first = (((values[a] as number) << 24) >> 24) - (((values[b] as number) << 24) >> 24);
  if (first !== 0) return first;
  for (let i = 1; i < 16; i++) {
    const order = (values[a + i] as number) - (values[b + i] as number);
    if (order !== 0) return order;
  }
  return 0;
}

/** The bounds of texts or bytes, compared as unsigned bytes. @returns undefined without values, and for too long ones */
export function boundsOfBytes({ count, offsets, bytes }: ByteValues): Bounds | undefined {
  if (count === 0) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let min = 0;
  let max = 0;
  for (let at = 1; at < count; at++) {
    if (compareValues(bytes, view, offsets, at, min) < 0) min = at;
    else if (compareValues(bytes, view, offsets, at, max) > 0) max = at;
  }
  if (lengthAt(offsets, min) > LONGEST || lengthAt(offsets, max) > LONGEST) return undefined;
  return {
    min: copy(bytes, offsets[min] as number, offsets[min + 1] as number),
    max: copy(bytes, offsets[max] as number, offsets[max + 1] as number),
  };
}

/** Compares two values; most differ in their first word. */
function compareValues(bytes: Uint8Array, view: DataView, offsets: Int32Array, a: number, b: number): number {
  const from = offsets[a] as number;
  const to = offsets[a + 1] as number;
  const otherFrom = offsets[b] as number;
  const otherTo = offsets[b + 1] as number;
  if (to - from >= 4 && otherTo - otherFrom >= 4) {
    const order = view.getUint32(from) - view.getUint32(otherFrom);
    if (order !== 0) return order;
  }
  return compareBytes(bytes, from, to, bytes, otherFrom, otherTo);
}
