import { kinds } from '../declare/kind.ts';
import type { TableDef } from '../declare/table.ts';
import type { Batch, Vector } from '../flatten/batch.ts';

/** Compares the rows `a` and `b` of two vectors of one column: negative, zero or positive. */
type Compare = (left: Vector, a: number, right: Vector, b: number) => number;

/**
 * Watches batches go by and tells whether their rows are in the order of `table.sort`, as DuckDB would sort them. Where it
 * cannot tell (nulls, rare types) it says no, which costs a sort and nothing else.
 */
export class OrderCheck {
  readonly #columns: readonly number[];
  readonly #compares: readonly (Compare | undefined)[];
  #last: readonly Vector[] | undefined;
  #isSorted: boolean;

  constructor(table: TableDef) {
    this.#columns = table.sort.map((name) => table.columns.findIndex((column) => column.name === name));
    this.#compares = this.#columns.map((at) => {
      const column = table.columns[at];
      return column === undefined ? undefined : compareOf(kinds[column.kind].physical);
    });
    this.#isSorted = this.#compares.every((compare) => compare !== undefined);
  }

  get isSorted(): boolean {
    return this.#isSorted;
  }

  add(batch: Batch): void {
    if (!this.#isSorted || batch.rows === 0) return;
    const vectors = this.#columns.flatMap((at) => batch.vectors[at] ?? []);
    const last = this.#last;
    this.#isSorted =
      vectors.every(({ nullCount }) => nullCount === 0) && (last === undefined || this.#isInOrder(last, 0, vectors, 0));
    for (let row = 1; row < batch.rows && this.#isSorted; row++) {
      this.#isSorted = this.#isInOrder(vectors, row - 1, vectors, row);
    }
    if (this.#isSorted) this.#last = vectors.map((vector) => copyRow(vector, batch.rows - 1));
  }

  #isInOrder(left: readonly Vector[], a: number, right: readonly Vector[], b: number): boolean {
    for (let at = 0; at < left.length; at++) {
      const [from, to] = [left[at], right[at]];
      if (from === undefined || to === undefined) return false;
      const order = this.#compares[at]?.(from, a, to, b) ?? 1;
      if (order !== 0) return order < 0;
    }
    return true;
  }
}

function compareOf(physical: (typeof kinds)[keyof typeof kinds]['physical']): Compare | undefined {
  switch (physical) {
    case 'int32':
      return (left, a, right, b) => signed(left.values, a * 4) - signed(right.values, b * 4);
    case 'int64':
      return (left, a, right, b) =>
        signed(left.values, a * 8 + 4) - signed(right.values, b * 8 + 4) ||
        (signed(left.values, a * 8) >>> 0) - (signed(right.values, b * 8) >>> 0);
    case 'utf8':
    case 'binary':
      return (left, a, right, b) => Buffer.compare(bytesOf(left, a), bytesOf(right, b));
    case 'bool':
    case 'decimal128':
      return undefined;
  }
}

/** Four bytes, little-endian, as a signed number. */
function signed(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
}

function bytesOf({ offsets, values }: Vector, row: number): Uint8Array {
  return values.subarray(offsets?.[row] ?? 0, offsets?.[row + 1] ?? 0);
}

/** A vector of one row, independent of the batch's memory (`slice` of a Buffer would not be). */
function copyRow(vector: Vector, row: number): Vector {
  if (vector.offsets !== undefined) {
    const values = new Uint8Array(bytesOf(vector, row));
    return { ...vector, offsets: Int32Array.of(0, values.length), values };
  }
  const width = kinds[vector.column.kind].physical === 'int32' ? 4 : 8;
  return { ...vector, values: new Uint8Array(vector.values.subarray(row * width, (row + 1) * width)) };
}
