import type { ColumnDef } from '../declare/column.ts';
import type { TableDef } from '../declare/table.ts';

/**
 * The values of one column in Arrow's memory layout. `validity` holds one bit a row, least significant bit first, 1 = set.
 *
 * By the physical type of the column's kind:
 * - `utf8`, `binary`: `offsets` has rows + 1 entries into `values` (bytes).
 * - `bool`: `values` holds one bit a row.
 * - `int32`: `values` holds 4 bytes a row; `int64` 8; `decimal128` 16; all little-endian two's complement.
 *
 * `values` may be longer than the rows need. A null row is empty in `utf8` and `binary`; what it holds in others is undefined.
 */
export interface Vector {
  readonly column: ColumnDef;
  readonly nullCount: number;
  readonly validity: Uint8Array;
  readonly offsets: Int32Array | undefined;
  readonly values: Uint8Array;
}

/** Which rows of a column are null. */
export type Nullity = Pick<Vector, 'column' | 'nullCount' | 'validity'>;

/** Every vector is made here: code that meets objects of one shape only is compiled once. */
export function makeVector(
  { column, nullCount, validity }: Nullity,
  offsets: Int32Array | undefined,
  values: Uint8Array,
): Vector {
  return { column, nullCount, validity, offsets, values };
}

/** Columns of n rows of one table: the form between flatten and store. */
export interface Batch {
  readonly table: TableDef;
  readonly rows: number;
  /** In the order of `table.columns`. */
  readonly vectors: readonly Vector[];
}
