import type { Physical } from '../declare/kind.ts';
import { kinds } from '../declare/kind.ts';
import type { Vector } from '../flatten/batch.ts';
import { encodeVarint } from './thrift.ts';

/** Parquet's definition levels of an optional column: Arrow's validity bitmap is their bit-packed form. */
export function encodeLevels(vector: Vector, rows: number): Uint8Array {
  const bitmap = (rows + 7) >> 3;
  const allSame = vector.nullCount === 0 || vector.nullCount === rows;
  const header = encodeVarint(allSame ? rows * 2 : bitmap * 2 + 1);
  const size = header.length + (allSame ? 1 : bitmap);
  const out = new Uint8Array(4 + size);
  new DataView(out.buffer).setUint32(0, size, true);
  out.set(header, 4);
  if (allSame) out[out.length - 1] = vector.nullCount === 0 ? 1 : 0;
  else out.set(vector.validity.subarray(0, bitmap), 4 + header.length);
  return out;
}

/** Parquet's PLAIN encoding of the values that are not null. May be a view of the vector's memory. */
export function encodeValues(vector: Vector, rows: number): Uint8Array {
  const physical: Physical = kinds[vector.column.kind].physical;
  switch (physical) {
    case 'utf8':
    case 'binary':
      return encodeBytes(vector, rows);
    case 'bool':
      return encodeBits(vector, rows);
    case 'int32':
      return encodeWords(vector, rows, 1);
    case 'int64':
      return encodeWords(vector, rows, 2);
    case 'decimal128':
      return reverseDecimals(encodeWords(vector, rows, 4));
  }
}

function isSet(validity: Uint8Array, row: number): boolean {
  return ((validity[row >> 3] ?? 0) & (1 << (row & 7))) !== 0;
}

function encodeBytes(vector: Vector, rows: number): Uint8Array {
  const { validity, values } = vector;
  const offsets = vector.offsets ?? new Int32Array(rows + 1);
  const dense = vector.nullCount === 0;
  let size = 4 * (rows - vector.nullCount);
  if (dense) size += (offsets[rows] ?? 0) - (offsets[0] ?? 0);
  else {
    for (let row = 0; row < rows; row++) {
      if (isSet(validity, row)) size += (offsets[row + 1] ?? 0) - (offsets[row] ?? 0);
    }
  }
  const out = new Uint8Array(size);
  let at = 0;
  for (let row = 0; row < rows; row++) {
    if (!dense && !isSet(validity, row)) continue;
    const start = offsets[row] ?? 0;
    const end = offsets[row + 1] ?? 0;
    const length = end - start;
    out[at++] = length & 255;
    out[at++] = (length >> 8) & 255;
    out[at++] = (length >> 16) & 255;
    out[at++] = length >>> 24;
    // Below this length a loop is cheaper than the call of `set` with its view.
    if (length <= 96) {
      for (let from = start; from < end; from++) out[at++] = values[from] ?? 0;
    } else {
      out.set(values.subarray(start, end), at);
      at += length;
    }
  }
  return out;
}

function encodeBits(vector: Vector, rows: number): Uint8Array {
  const { validity, values } = vector;
  if (vector.nullCount === 0) return values.subarray(0, (rows + 7) >> 3);
  const out = new Uint8Array((rows - vector.nullCount + 7) >> 3);
  let at = 0;
  for (let row = 0; row < rows; row++) {
    if (!isSet(validity, row)) continue;
    if (isSet(values, row)) out[at >> 3] = (out[at >> 3] ?? 0) | (1 << (at & 7));
    at++;
  }
  return out;
}

/** Values of `width` 32-bit words each, without those of null rows. */
function encodeWords(vector: Vector, rows: number, width: 1 | 2 | 4): Uint8Array {
  const bytes = vector.values.subarray(0, rows * width * 4);
  if (vector.nullCount === 0) return bytes;
  const words = asWords(bytes);
  const out = new Uint32Array((rows - vector.nullCount) * width);
  let at = 0;
  for (let row = 0; row < rows; row++) {
    if (!isSet(vector.validity, row)) continue;
    for (let word = row * width; word < (row + 1) * width; word++) out[at++] = words[word] ?? 0;
  }
  return new Uint8Array(out.buffer);
}

/** Parquet's decimals are big-endian, Arrow's little-endian. */
function reverseDecimals(bytes: Uint8Array): Uint8Array {
  const words = asWords(bytes);
  const out = new Uint32Array(words.length);
  for (let at = 0; at < words.length; at += 4) {
    out[at] = words[at + 3] ?? 0;
    out[at + 1] = words[at + 2] ?? 0;
    out[at + 2] = words[at + 1] ?? 0;
    out[at + 3] = words[at] ?? 0;
  }
  return Buffer.from(out.buffer).swap32();
}

function asWords(bytes: Uint8Array): Uint32Array {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
  return new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength >> 2);
}
