import type { ColumnDef } from '../declare/column.ts';
import type { TableDef } from '../declare/table.ts';

/**
 * The values of a column in Arrow's memory layout. `validity` has one bit per row, least significant bit first, 1 = set.
 *
 * By the physical type of the column's kind:
 * - `utf8`, `binary`: `offsets` has rows + 1 entries into `values` (bytes).
 * - `bool`: `values` has one bit per row.
 * - `int32`: `values` has 4 bytes per row; `int64` 8; `decimal128` 16; all little-endian two's complement.
 *
 * `values` may be longer than needed. A null row is empty in `utf8` and `binary`, and undefined in others.
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

/** Creates all vectors, so that they share one hidden class. */
export function makeVector(
  { column, nullCount, validity }: Nullity,
  offsets: Int32Array | undefined,
  values: Uint8Array,
): Vector {
  return { column, nullCount, validity, offsets, values };
}

/** Rows of one table, by column. */
export interface Batch {
  readonly table: TableDef;
  readonly rows: number;
  /** In the order of `table.columns`. */
  readonly vectors: readonly Vector[];
}
