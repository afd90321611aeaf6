import type { Physical } from '../declare/kind.ts';
import { type Bounds, compareValues } from './statistics.ts';
import { ThriftWriter } from './thrift.ts';
import { truncateBounds } from './truncated-bounds.ts';

// ColumnIndex and OffsetIndex of parquet.thrift: what lets a reader fetch and decode single pages of a column.

/** What the index tells of a data page. */
export interface IndexedPage {
  /** Where it stands in the file. */
  readonly offset: number;
  /** Bytes with its header. */
  readonly bytes: number;
  /** Position of its first row in the row group. */
  readonly firstRow: number;
  readonly nulls: number;
  /** Undefined where all values are null. */
  readonly bounds: Bounds | undefined;
}

/**
 * Maximum size of a bound, in bytes: an address in its raw form and a hash fit as they are. Longer ones are shortened: a least
 * value to a beginning, a greatest value to the next beginning above it.
 */
const MOST_BOUND_BYTES = 72;

const boundaryOrder = { unordered: 0, ascending: 1, descending: 2 } as const;

/** Nothing of it stays between two calls, so one for all files. */
const out = new ThriftWriter();

const empty = new Uint8Array(0);

/** The ColumnIndex of a row group's column: bounds and nulls of each page. */
export function encodeColumnIndex(physical: Physical, pages: readonly IndexedPage[]): Uint8Array {
  const bounds = pages.map((page) => page.bounds && truncateBounds(physical, page.bounds, MOST_BOUND_BYTES));
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

/** The OffsetIndex of a row group's column: where its data pages stand. */
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

/** How the bounds of the pages follow on each other; those of nulls alone do not count. */
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
