import type { Physical } from '../declare/kind.ts';
import { kinds } from '../declare/kind.ts';
import type { Arena } from '../flatten/arena.ts';
import type { Vector } from '../flatten/batch.ts';
import { bytesOf } from '../flatten/bytes.ts';
import { MOST_BYTES, putVarint } from './varint.ts';

/** Parquet's definition levels of an optional column: Arrow's validity bitmap is their bit-packed form. */
export function encodeLevels(vector: Vector, rows: number, arena: Arena): Uint8Array {
  const bitmap = (rows + 7) >> 3;
  const allSame = vector.nullCount === 0 || vector.nullCount === rows;
  const out = arena.take(4 + MOST_BYTES + bitmap);
  let at = putVarint(out, 4, allSame ? rows * 2 : bitmap * 2 + 1);
  if (allSame) out[at++] = vector.nullCount === 0 ? 1 : 0;
  else {
    out.set(vector.validity.subarray(0, bitmap), at);
    at += bitmap;
  }
  new DataView(out.buffer, out.byteOffset).setUint32(0, at - 4, true);
  return out.subarray(0, at);
}

/**
 * Parquet's PLAIN encoding of the values that are not null, in the arena's memory or, where it is the same, the vector's. It starts
 * at a multiple of 4 bytes, but for truth values.
 */
export function encodeValues(vector: Vector, rows: number, arena: Arena): Uint8Array {
  const physical: Physical = kinds[vector.column.kind].physical;
  switch (physical) {
    case 'utf8':
    case 'binary':
      return encodeBytes(vector, rows, arena);
    case 'bool':
      return encodeBits(vector, rows, arena);
    case 'int32':
      return encodeWords(vector, rows, 1, arena);
    case 'int64':
      return encodeWords(vector, rows, 2, arena);
    case 'decimal128':
      return reverseDecimals(encodeWords(vector, rows, 4, arena), arena);
  }
}

function isSet(validity: Uint8Array, row: number): boolean {
  return (((validity[row >> 3] as number) >> (row & 7)) & 1) === 1;
}

/** Longer values are left to the engine; below, its call costs more than the loop. */
const LONG_COPY = 192;

function encodeBytes(vector: Vector, rows: number, arena: Arena): Uint8Array {
  const { validity, values } = vector;
  const offsets = vector.offsets ?? new Int32Array(rows + 1);
  const dense = vector.nullCount === 0;
  let size = 4 * (rows - vector.nullCount);
  if (dense) size += (offsets[rows] as number) - (offsets[0] as number);
  else {
    for (let row = 0; row < rows; row++) {
      if (isSet(validity, row)) size += (offsets[row + 1] as number) - (offsets[row] as number);
    }
  }
  const out = arena.take(size);
  const target = new DataView(out.buffer, out.byteOffset);
  const source = new DataView(values.buffer, values.byteOffset);
  // Words of four bytes may reach behind the last value.
  const safe = source.byteLength - 3;
  let at = 0;
  for (let row = 0; row < rows; row++) {
    if (!dense && !isSet(validity, row)) continue;
    const start = offsets[row] as number;
    const end = offsets[row + 1] as number;
    const length = end - start;
    target.setInt32(at, length, true);
    at += 4;
    if (length > LONG_COPY) out.set(values.subarray(start, end), at);
    else if (end < safe) {
      for (let i = 0; i < length; i += 4) target.setInt32(at + i, source.getInt32(start + i, true), true);
    } else {
      for (let i = 0; i < length; i++) out[at + i] = values[start + i] as number;
    }
    at += length;
  }
  return out;
}

function encodeBits(vector: Vector, rows: number, arena: Arena): Uint8Array {
  const { validity, values } = vector;
  if (vector.nullCount === 0) return values.subarray(0, (rows + 7) >> 3);
  const out = arena.take((rows - vector.nullCount + 7) >> 3).fill(0);
  let at = 0;
  for (let row = 0; row < rows; row++) {
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

/** Parquet's decimals are big-endian, Arrow's little-endian. */
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
