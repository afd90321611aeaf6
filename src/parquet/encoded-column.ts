import { kinds } from '../declare/kind.ts';
import type { Arena } from '../decode/arena.ts';
import type { Vector } from '../decode/batch.ts';
import { byteValues, encodeDeltaLength, plainSize } from './byte-values.ts';
import { encodings } from './encodings.ts';
import { encodeBits, encodeNumbers } from './plain-values.ts';

/** The values of a row group's column as they are read soonest: one page, without levels, dictionary, bounds or compression. */
export interface EncodedColumn {
  /** Number of the encoding of `data`. */
  readonly encoding: number;
  /** What the data page holds behind its levels. */
  readonly data: readonly Uint8Array[];
  /** Bytes that the values take in PLAIN encoding. */
  readonly plainBytes: number;
}

/** Its parts lie in the memory of the arena, or of the vector. */
export function encodeSimple(vector: Vector, rows: number, arena: Arena): EncodedColumn {
  const { physical } = kinds[vector.column.kind];
  if (physical === 'utf8' || physical === 'binary') {
    const values = byteValues(vector, rows, arena);
    return {
      encoding: encodings.deltaLength,
      data: encodeDeltaLength(values, arena),
      plainBytes: plainSize(values),
    };
  }
  const values =
    physical === 'bool'
      ? encodeBits(vector, { from: 0, to: rows, nulls: vector.nullCount }, arena)
      : encodeNumbers(physical, vector, rows, arena);
  return { encoding: encodings.plain, data: [values], plainBytes: values.length };
}
