import type { Physical } from '../declare/kind.ts';
import type { Arena } from '../decode/arena.ts';
import type { Vector } from '../decode/batch.ts';
import { countOnes } from '../decode/bits.ts';
import { bytesOf } from '../decode/bytes.ts';
import { MOST_BYTES, putVarint } from './bit-packing.ts';

/** Rows of a vector: from `from` (a multiple of 8) to before `to`. */
export interface RowRange {
  readonly from: number;
  readonly to: number;
  /** Number of null rows. */
  readonly nulls: number;
}

/** Definition levels of an optional column: Arrow's validity bitmap is their bit-packed form. */
export function encodeLevels({ validity }: Vector, { from, to, nulls }: RowRange, arena: Arena): Uint8Array {
  const rows = to - from;
  const bitmap = (rows + 7) >> 3;
  const allSame = nulls === 0 || nulls === rows;
  const out = arena.take(4 + MOST_BYTES + bitmap);
  let at = putVarint(out, 4, allSame ? rows * 2 : bitmap * 2 + 1);
  if (allSame) out[at++] = nulls === 0 ? 1 : 0;
  else {
    out.set(validity.subarray(from >> 3, (from >> 3) + bitmap), at);
    at += bitmap;
  }
  new DataView(out.buffer, out.byteOffset).setUint32(0, at - 4, true);
  return out.subarray(0, at);
}

/** Number of null rows from `from` (a multiple of 8) to before `to`. */
export function countNulls({ validity, nullCount }: Vector, from: number, to: number): number {
  if (nullCount === 0) return 0;
  const whole = Math.max(from, to & ~7);
  let set = countOnes(validity, from >> 3, whole >> 3);
  for (let row = whole; row < to; row++) if (isSet(validity, row)) set++;
  return to - from - set;
}

/**
 * PLAIN encoding of the non-null numbers, in memory of the arena or, if identical, of the vector. Aligned to 4 bytes.
 */
export function encodeNumbers(physical: Numeric, vector: Vector, rows: number, arena: Arena): Uint8Array {
  switch (physical) {
    case 'int32':
      return encodeWords(vector, rows, 1, arena);
    case 'int64':
      return encodeWords(vector, rows, 2, arena);
    case 'decimal128':
      return reverseDecimals(encodeWords(vector, rows, 4, arena), arena);
  }
}

export function isSet(validity: Uint8Array, row: number): boolean {
  return (((validity[row >> 3] as number) >> (row & 7)) & 1) === 1;
}

/** PLAIN encoding of the non-null booleans: one bit each. */
export function encodeBits({ validity, values }: Vector, { from, to, nulls }: RowRange, arena: Arena): Uint8Array {
  if (nulls === 0) return values.subarray(from >> 3, (to + 7) >> 3);
  const out = arena.take((to - from - nulls + 7) >> 3).fill(0);
  let at = 0;
  for (let row = from; row < to; row++) {
    if (!isSet(validity, row)) continue;
    if (isSet(values, row)) out[at >> 3] = (out[at >> 3] as number) | (1 << (at & 7));
    at++;
  }
  return out;
}

/** Values of `width` 32-bit words each, without those of null rows. */
function encodeWords(vector: Vector, rows: number, width: 1 | 2 | 4, arena: Arena): Uint8Array {
  const bytes = vector.values.subarray(0, rows * width * 4);
  const words = asWords(bytes);
  if (vector.nullCount === 0) return bytesOf(words);
  const out = arena.words((rows - vector.nullCount) * width);
  let at = 0;
  for (let row = 0; row < rows; row++) {
    if (!isSet(vector.validity, row)) continue;
    for (let word = row * width; word < (row + 1) * width; word++) out[at++] = words[word] as number;
  }
  return bytesOf(out);
}

/** Parquet decimals are big-endian, Arrow's are little-endian. */
function reverseDecimals(bytes: Uint8Array, arena: Arena): Uint8Array {
  const words = asWords(bytes);
  const out = arena.words(words.length);
  for (let at = 0; at < words.length; at += 4) {
    out[at] = words[at + 3] as number;
    out[at + 1] = words[at + 2] as number;
    out[at + 2] = words[at + 1] as number;
    out[at + 3] = words[at] as number;
  }
  return Buffer.from(out.buffer, out.byteOffset, out.byteLength).swap32();
}

function asWords(bytes: Uint8Array): Uint32Array {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
  return new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength >> 2);
}

/** Layouts of fixed-size numbers. */
export type Numeric = Exclude<Physical, 'utf8' | 'binary' | 'bool'>;
