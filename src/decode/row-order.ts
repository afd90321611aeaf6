import { compareBytes } from './bytes.ts';
import type { AnyColumn } from './typed-columns.ts';
import { BytesColumn, WordsColumn } from './typed-columns.ts';

/** A column to sort by; for a column of the parent, `parentRows` are the rows of the values. */
export interface SortColumn {
  readonly column: AnyColumn;
  readonly parentRows: (() => Int32Array) | undefined;
}

/** Average moves per row above which all rows are sorted. */
const MOST_MOVES = 8;

/**
 * Sorts rows by some columns as DuckDB does: texts by bytes, nulls last, stable. Reused for each table, because V8 recompiles new
 * closures.
 */
export class RowOrder {
  private readonly columns: readonly SortColumn[];
  private readonly compare = (a: number, b: number): number => this.compareRows(a, b);

  constructor(columns: readonly SortColumn[]) {
    this.columns = columns;
  }

  /** The sorted rows: the given array if already sorted, else a new one. */
  sort(rows: Int32Array): Int32Array {
    const first = this.firstBreak(rows);
    if (first === rows.length) return rows;
    // Rows of pages are nearly sorted.
    return this.insert(Int32Array.from(rows), first) ?? Int32Array.from(rows).sort(this.compare);
  }

  private firstBreak(rows: Int32Array): number {
    let at = 1;
    while (at < rows.length && this.compareRows(rows[at - 1] as number, rows[at] as number) <= 0) at++;
    return Math.min(at, rows.length);
  }

  private insert(rows: Int32Array, first: number): Int32Array | undefined {
    let moves = MOST_MOVES * rows.length;
    for (let at = first; at < rows.length; at++) {
      const row = rows[at] as number;
      let to = at;
      while (to > 0 && this.compareRows(rows[to - 1] as number, row) > 0) {
        if (--moves < 0) return undefined;
        rows[to] = rows[to - 1] as number;
        to--;
      }
      rows[to] = row;
    }
    return rows;
  }

  private compareRows(a: number, b: number): number {
    for (const { column, parentRows } of this.columns) {
      const rows = parentRows?.();
      const order =
        rows === undefined ? compareIn(column, a, b) : compareIn(column, rows[a] as number, rows[b] as number);
      if (order !== 0) return order;
    }
    return a - b;
  }
}

function compareIn(column: AnyColumn, a: number, b: number): number {
  if (a === b) return 0;
  if (column.nulls > 0 || column.next <= a || column.next <= b) {
    const [left, right] = [column.isSet(a), column.isSet(b)];
    if (!left || !right) return Number(right) - Number(left);
  }
  if (column instanceof WordsColumn) {
    const { words, width } = column;
    if (width === 1) return ((words[a] as number) | 0) - ((words[b] as number) | 0);
    const high = ((words[2 * a + 1] as number) | 0) - ((words[2 * b + 1] as number) | 0);
    return high === 0 ? (words[2 * a] as number) - (words[2 * b] as number) : high;
  }
  if (!(column instanceof BytesColumn)) return 0;
  const { bytes, offsets } = column;
  return compareBytes(
    bytes,
    offsets[a] as number,
    offsets[a + 1] as number,
    bytes,
    offsets[b] as number,
    offsets[b + 1] as number,
  );
}
