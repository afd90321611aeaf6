import { kinds } from '../declare/kind.ts';
import type { Arena } from '../decode/arena.ts';
import type { Vector } from '../decode/batch.ts';
import { byteValues, encodeDeltaLength, encodePlain, plainSize } from './byte-values.ts';
import { DictionaryMaker } from './dictionary.ts';
import { encodings } from './file-footer.ts';
import { encodeBits, encodeNumbers } from './plain-values.ts';
import { type Bounds, boundsOfBytes, boundsOfNumbers } from './statistics.ts';

/** The values of a row group's column in Parquet's encodings, without levels, before compression. */
export interface EncodedColumn {
  /** Number of the encoding of `data`. */
  readonly encoding: number;
  /** What the data page holds behind its levels. */
  readonly data: readonly Uint8Array[];
  /** Bytes that the values take in PLAIN encoding. */
  readonly plainBytes: number;
  /** The distinct values in PLAIN encoding, where a dictionary pays. */
  readonly dictionary: { readonly size: number; readonly values: Uint8Array } | undefined;
  readonly bounds: Bounds | undefined;
}

/** Encoding does not yield, so one for all files. */
const dictionaries = new DictionaryMaker();

/**
 * Encodes a column as it is read soonest, without dictionary and bounds. Its parts lie in the memory of the arena, or of the vector.
 */
export function encodeSimple(vector: Vector, rows: number, arena: Arena): EncodedColumn {
  const { physical } = kinds[vector.column.kind];
  if (physical === 'utf8' || physical === 'binary') {
    const values = byteValues(vector, rows, arena);
    const data = encodeDeltaLength(values, arena);
    const { deltaLength } = encodings;
    return { encoding: deltaLength, data, plainBytes: plainSize(values), dictionary: undefined, bounds: undefined };
  }
  if (physical === 'bool') return plain(encodeBits(vector, rows, arena), undefined);
  return plain(encodeNumbers(physical, vector, rows, arena), undefined);
}

/** Encodes a column fit for readers: with bounds, and a dictionary where it pays. Its parts lie as those of {@link encodeSimple}. */
export function encodeFinal(vector: Vector, rows: number, arena: Arena): EncodedColumn {
  const { physical } = kinds[vector.column.kind];
  const count = rows - vector.nullCount;
  if (physical === 'utf8' || physical === 'binary') {
    const values = byteValues(vector, rows, arena);
    const dictionary = dictionaries.ofBytes(values, arena);
    if (dictionary === undefined) return plain(encodePlain(values, arena), boundsOfBytes(values));
    const { size, indices, values: distinct } = dictionary;
    return withDictionary(
      indices,
      plainSize(values),
      { size, values: encodePlain(distinct, arena) },
      boundsOfBytes(distinct),
    );
  }
  if (physical === 'bool') return plain(encodeBits(vector, rows, arena), undefined);
  const values = encodeNumbers(physical, vector, rows, arena);
  const words = new Int32Array(values.buffer, values.byteOffset, values.byteLength >> 2);
  const dictionary = count === 0 ? undefined : dictionaries.ofWords(words, words.length / count, arena);
  if (dictionary === undefined) return plain(values, boundsOfNumbers(physical, values, count));
  const { size, indices, values: distinct } = dictionary;
  const bounds = boundsOfNumbers(physical, distinct, size);
  return withDictionary(indices, values.length, { size, values: distinct }, bounds);
}

function plain(values: Uint8Array, bounds: Bounds | undefined): EncodedColumn {
  return { encoding: encodings.plain, data: [values], plainBytes: values.length, dictionary: undefined, bounds };
}

function withDictionary(
  indices: Uint8Array,
  plainBytes: number,
  dictionary: EncodedColumn['dictionary'],
  bounds: Bounds | undefined,
): EncodedColumn {
  return { encoding: encodings.dictionary, data: [indices], plainBytes, dictionary, bounds };
}
