import { kinds } from '../declare/kind.ts';
import type { Arena } from '../decode/arena.ts';
import type { Vector } from '../decode/batch.ts';
import { byteValues, encodeDeltaLength, plainSize } from './byte-values.ts';
import { encodings } from './encodings.ts';
import { encodeBits, encodeNumbers } from './plain-values.ts';

/** A column chunk in its fastest form: one page without levels, dictionary, bounds or compression. */
export interface EncodedColumn {
  /** Encoding of `data`. */
  readonly encoding: number;
  /** The data page after its levels. */
  readonly data: readonly Uint8Array[];
  /** Size in PLAIN encoding, in bytes. */
  readonly plainBytes: number;
}

/** The result is in memory of the arena or the vector. */
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
