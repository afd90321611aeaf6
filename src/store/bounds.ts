import type { Physical } from '../declare/kind.ts';
import { compareBytes } from '../flatten/bytes.ts';

/** Least and greatest value in Parquet's PLAIN encoding (texts and bytes without their length). */
export interface Bounds {
  readonly min: Uint8Array;
  readonly max: Uint8Array;
}

/** Longer texts have no bounds: a footer holds them for every column of every row group. */
const LONGEST = 256;

/**
 * The bounds of values in PLAIN encoding, in the order of their type: numbers by value, texts and bytes as unsigned bytes.
 *
 * @param values starts at a multiple of 4 bytes
 * @returns undefined without values, for truth values and for texts that are too long
 */
export function boundsOf(physical: Physical, values: Uint8Array, count: number): Bounds | undefined {
  if (count === 0) return undefined;
  switch (physical) {
    case 'bool':
      return undefined;
    case 'int32':
      return pick(values, 4, boundsOf32(asInts(values), count));
    case 'int64':
      return pick(values, 8, boundsOf64(asInts(values), count));
    case 'decimal128':
      return pick(values, 16, boundsOf128(values, count));
    case 'utf8':
    case 'binary':
      return boundsOfBytes(values, count);
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

function boundsOfBytes(values: Uint8Array, count: number): Bounds | undefined {
  const view = new DataView(values.buffer, values.byteOffset, values.byteLength);
  let min = 0;
  let max = 0;
  let at = 0;
  for (let done = 0; done < count; done++) {
    if (done > 0) {
      if (comparePlain(values, view, at, min) < 0) min = at;
      else if (comparePlain(values, view, at, max) > 0) max = at;
    }
    at += 4 + view.getInt32(at, true);
  }
  const minLength = view.getInt32(min, true);
  const maxLength = view.getInt32(max, true);
  if (minLength > LONGEST || maxLength > LONGEST) return undefined;
  return { min: copy(values, min + 4, min + 4 + minLength), max: copy(values, max + 4, max + 4 + maxLength) };
}

/** Compares two values behind their lengths; most differ in their first word. */
function comparePlain(values: Uint8Array, view: DataView, a: number, b: number): number {
  const left = view.getInt32(a, true);
  const right = view.getInt32(b, true);
  if (left >= 4 && right >= 4) {
    const order = view.getUint32(a + 4) - view.getUint32(b + 4);
    if (order !== 0) return order;
  }
  return compareBytes(values, a + 4, a + 4 + left, values, b + 4, b + 4 + right);
}
