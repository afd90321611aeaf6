import type { Physical } from '../declare/kind.ts';
import { compareBytes } from '../decode/bytes.ts';
import type { ByteValues } from './byte-values.ts';
import type { Numeric } from './plain-values.ts';

/** Minimum and maximum in PLAIN encoding (texts and bytes without length), or lower and upper bounds of them. */
export interface Bounds {
  readonly min: Uint8Array;
  readonly max: Uint8Array;
  /** True if `min` is a value of the column. */
  readonly isMinExact: boolean;
  readonly isMaxExact: boolean;
}

/** The bounds of numbers in PLAIN encoding, aligned to 4 bytes. @returns undefined without values */
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

/** Positions of minimum and maximum. */
interface Places {
  readonly min: number;
  readonly max: number;
}

function pick(values: Uint8Array, width: number, { min, max }: Places): Bounds {
  return exact(copy(values, min * width, (min + 1) * width), copy(values, max * width, (max + 1) * width));
}

function exact(min: Uint8Array, max: Uint8Array): Bounds {
  return { min, max, isMinExact: true, isMaxExact: true };
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

function boundsOf128(values: Uint8Array, count: number): Places {
  let min = 0;
  let max = 0;
  for (let at = 1; at < count; at++) {
    if (compareDecimals(values, at * 16, values, min * 16) < 0) min = at;
    else if (compareDecimals(values, at * 16, values, max * 16) > 0) max = at;
  }
  return { min, max };
}

/** Big-endian two's complement: only the first byte is signed. */
function compareDecimals(left: Uint8Array, a: number, right: Uint8Array, b: number): number {
  const first = (((left[a] as number) << 24) >> 24) - (((right[b] as number) << 24) >> 24);
  if (first !== 0) return first;
  for (let i = 1; i < 16; i++) {
    const order = (left[a + i] as number) - (right[b + i] as number);
    if (order !== 0) return order;
  }
  return 0;
}

/**
 * The bounds of texts or bytes, compared as unsigned bytes.
 *
 * @param picked positions of the values to consider; default all
 * @returns undefined without values
 */
export function boundsOfBytes({ count, offsets, bytes }: ByteValues, picked?: Int32Array): Bounds | undefined {
  if (count === 0) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const first = picked === undefined ? 0 : (picked[0] as number);
  let [min, max] = [first, first];
  const end = picked === undefined ? count : picked.length;
  for (let i = 1; i < end; i++) {
    const at = picked === undefined ? i : (picked[i] as number);
    if (compareAt(bytes, view, offsets, at, min) < 0) min = at;
    else if (compareAt(bytes, view, offsets, at, max) > 0) max = at;
  }
  return exact(
    copy(bytes, offsets[min] as number, offsets[min + 1] as number),
    copy(bytes, offsets[max] as number, offsets[max + 1] as number),
  );
}

/** The bounds of booleans, one bit each. @returns undefined without values */
export function boundsOfBits(bits: Uint8Array, count: number): Bounds | undefined {
  if (count === 0) return undefined;
  let ones = 0;
  for (let at = 0; at < count; at++) ones += ((bits[at >> 3] as number) >> (at & 7)) & 1;
  return exact(Uint8Array.of(ones === count ? 1 : 0), Uint8Array.of(ones === 0 ? 0 : 1));
}

/** The common bounds of both. */
export function mergeBounds(physical: Physical, a: Bounds | undefined, b: Bounds | undefined): Bounds | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const least = compareValues(physical, a.min, b.min) <= 0 ? a : b;
  const greatest = compareValues(physical, a.max, b.max) >= 0 ? a : b;
  return { min: least.min, isMinExact: least.isMinExact, max: greatest.max, isMaxExact: greatest.isMaxExact };
}

/** Compares two values in PLAIN encoding (texts and bytes without length), in the order of their type. */
export function compareValues(physical: Physical, a: Uint8Array, b: Uint8Array): number {
  switch (physical) {
    case 'int32':
      return Buffer.from(a).readInt32LE() - Buffer.from(b).readInt32LE();
    case 'int64': {
      const [left, right] = [Buffer.from(a).readBigInt64LE(), Buffer.from(b).readBigInt64LE()];
      return left < right ? -1 : left > right ? 1 : 0;
    }
    case 'decimal128':
      return compareDecimals(a, 0, b, 0);
    case 'bool':
    case 'utf8':
    case 'binary':
      return Buffer.compare(a, b);
  }
}

/** Compares two values by their first word, which mostly differs, then completely. */
function compareAt(bytes: Uint8Array, view: DataView, offsets: Int32Array, a: number, b: number): number {
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
