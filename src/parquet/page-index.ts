import type { Physical } from '../declare/kind.ts';
import { type Bounds, compareValues, truncateBounds } from './statistics.ts';
import { out } from './thrift.ts';

// ColumnIndex and OffsetIndex of parquet.thrift, with which readers fetch and decode single pages.

/** A data page in the index. */
export interface IndexedPage {
  /** Position in the file. */
  readonly offset: number;
  /** Size with header, in bytes. */
  readonly bytes: number;
  /** Position of its first row in the row group. */
  readonly firstRow: number;
  readonly nulls: number;
  /** Undefined if all values are null. */
  readonly bounds: Bounds | undefined;
}

/**
 * Maximum size of a bound, in bytes; raw addresses and hashes fit. A longer minimum is truncated, a longer maximum is truncated and
 * incremented.
 */
const MAX_BOUND_BYTES = 72;

const boundaryOrder = { unordered: 0, ascending: 1, descending: 2 } as const;

const empty = new Uint8Array(0);

/** The ColumnIndex of a column chunk: bounds and nulls of each page. */
export function encodeColumnIndex(physical: Physical, pages: readonly IndexedPage[]): Uint8Array {
  const bounds = pages.map((page) => page.bounds && truncateBounds(physical, page.bounds, MAX_BOUND_BYTES));
  out.begin();
  out.list(1, 'bool', pages.length);
  for (const own of bounds) out.truth(own === undefined);
  out.list(2, 'binary', pages.length);
  for (const own of bounds) out.bytes(own?.min ?? empty);
  out.list(3, 'binary', pages.length);
  for (const own of bounds) out.bytes(own?.max ?? empty);
  out.i32(4, boundaryOrder[orderOf(physical, bounds)]);
  out.list(5, 'i64', pages.length);
  for (const { nulls } of pages) out.integer(nulls);
  out.end();
  return out.take();
}

/** The OffsetIndex of a column chunk: positions of its data pages. */
export function encodeOffsetIndex(pages: readonly IndexedPage[]): Uint8Array {
  out.begin();
  out.list(1, 'struct', pages.length);
  for (const { offset, bytes, firstRow } of pages) {
    out.begin();
    out.i64(1, offset);
    out.i32(2, bytes);
    out.i64(3, firstRow);
    out.end();
  }
  out.end();
  return out.take();
}

/** Order of the page bounds; pages of nulls are ignored. */
function orderOf(physical: Physical, all: readonly (Bounds | undefined)[]): keyof typeof boundaryOrder {
  let isAscending = true;
  let isDescending = true;
  let before: Bounds | undefined;
  for (const bounds of all) {
    if (bounds === undefined) continue;
    if (before !== undefined) {
      const steps = [compareValues(physical, before.min, bounds.min), compareValues(physical, before.max, bounds.max)];
      if (steps.some((step) => step > 0)) isAscending = false;
      if (steps.some((step) => step < 0)) isDescending = false;
    }
    before = bounds;
  }
  return isAscending ? 'ascending' : isDescending ? 'descending' : 'unordered';
}
