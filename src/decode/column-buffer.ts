import type { ColumnDef } from '../declare/column.ts';
import type { Arena } from './arena.ts';
import type { Nullity, Vector } from './batch.ts';
import { clearBits, copyBits, countOnes } from './bits.ts';
import type { ChosenRows } from './chosen-rows.ts';

export const START_ROWS = 1024;

/**
 * A growing column in Arrow's layout. Rows are written in ascending order, each at most once; a skipped row is null. All bits of
 * `validity` are set until a row is skipped, so that writing a value does not touch them.
 */
export abstract class Column {
  readonly def: ColumnDef;
  validity = new Uint8Array(START_ROWS >> 3).fill(255);
  capacity = START_ROWS;
  /** The row after the last one written or skipped. */
  next = 0;
  /** Number of null rows before `next`. */
  nulls = 0;

  constructor(def: ColumnDef) {
    this.def = def;
  }

  /** Grows to at least this row. */
  abstract grow(row: number): void;
  /** The given rows, in that order, as a vector of column `def` in memory of the arena. */
  abstract gather(chosen: ChosenRows, def: ColumnDef, arena: Arena): Vector;
  /** Size of the values in bytes. */
  abstract byteSize(): number;

  /** Claims a row for a value. False if it or a later row was already written. */
  claim(row: number): boolean {
    if (row !== this.next && !this.passTo(row)) return false;
    if (row >= this.capacity) this.grow(row);
    this.next = row + 1;
    return true;
  }

  /** Sets the rows before `row` to null. False if `row` was already written. */
  passTo(row: number): boolean {
    if (row < this.next) return false;
    if (row > this.capacity) this.grow(row - 1);
    const { validity } = this;
    for (let i = this.next; i < row; i++) validity[i >> 3] = (validity[i >> 3] as number) & ~(1 << (i & 7));
    this.nulls += row - this.next;
    this.next = row;
    return true;
  }

  isSet(row: number): boolean {
    return row < this.next && (((this.validity[row >> 3] as number) >> (row & 7)) & 1) === 1;
  }

  /** Removes all rows from `rows` on. */
  truncate(rows: number): void {
    const { validity } = this;
    for (let row = rows; row < this.next; row++) {
      if (!this.isSet(row)) this.nulls--;
      validity[row >> 3] = (validity[row >> 3] as number) | (1 << (row & 7));
    }
    if (this.next > rows) this.next = rows;
  }

  /** Removes all rows but keeps the memory. */
  clear(): void {
    this.validity.fill(255, 0, (this.next + 7) >> 3);
    this.next = 0;
    this.nulls = 0;
  }

  protected growValidity(row: number): void {
    let capacity = this.capacity;
    while (capacity <= row) capacity *= 2;
    const validity = new Uint8Array(capacity >> 3).fill(255);
    validity.set(this.validity);
    this.validity = validity;
    this.capacity = capacity;
  }

  protected gatherNullity({ rows, runs, greatest }: ChosenRows, column: ColumnDef, arena: Arena): Nullity {
    const validity = arena.take((rows.length + 7) >> 3).fill(255);
    if (this.nulls === 0 && greatest < this.next) return { column, nullCount: 0, validity };
    if (runs === undefined) {
      for (let i = 0; i < rows.length; i++) {
        if (!this.isSet(rows[i] as number)) clearBits(validity, i, 1);
      }
    } else {
      for (let run = 0; run + 1 < runs.length; run++) {
        const at = runs[run] as number;
        const length = (runs[run + 1] as number) - at;
        const written = this.writtenOf(rows[at] as number, length);
        copyBits(this.validity, rows[at] as number, validity, at, written);
        clearBits(validity, at + written, length - written);
      }
    }
    return { column, nullCount: validity.length * 8 - countOnes(validity, 0, validity.length), validity };
  }

  /** How many of `length` rows from `first` on were written or skipped; those after them are null. */
  protected writtenOf(first: number, length: number): number {
    return Math.max(0, Math.min(length, this.next - first));
  }
}
