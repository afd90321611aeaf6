import { kinds, type Physical } from '../../declare/kind.ts';
import type { TableDef } from '../../declare/table.ts';
import { type Batch, makeVector, type Vector } from '../../decode/batch.ts';
import { compareBytes } from '../../decode/bytes.ts';

/**
 * Checks if the rows of successive batches are in the order of `table.sort`, as DuckDB would sort them: nulls last. A part of a commit may
 * begin before the end of the previous part, because shard blocks reach the masterchain late. Rows with types that it cannot compare (rare)
 * count as unsorted, which only costs a sort.
 */
export class OrderCheck {
  readonly #columns: readonly number[];
  #last: readonly Vector[] | undefined;
  #isSorted: boolean;

  constructor(table: TableDef) {
    this.#columns = table.sort.map((name) => table.columns.findIndex((column) => column.name === name));
    this.#isSorted = this.#columns.every((at) => isComparable(table.columns[at]?.kind));
  }

  /** True if the rows of each part are in order. */
  get isSorted(): boolean {
    return this.#isSorted;
  }

  /** @returns true if the rows continue the order of all earlier rows */
  add(batch: Batch, startsPart = false): boolean {
    if (!this.#isSorted || batch.rows === 0) return this.#isSorted;
    const vectors = this.#columns.flatMap((at) => batch.vectors[at] ?? []);
    const last = this.#last;
    const isNext = last === undefined || isInOrder(last, 0, vectors, 0);
    this.#isSorted = (isNext || startsPart) && isAllInOrder(vectors, batch.rows);
    if (this.#isSorted) this.#last = vectors.map((vector) => copyRow(vector, batch.rows - 1));
    return this.#isSorted && isNext;
  }
}

function isComparable(kind: keyof typeof kinds | undefined): boolean {
  if (kind === undefined) return false;
  const { physical } = kinds[kind];
  return physical !== 'bool' && physical !== 'decimal128';
}

function isAllInOrder(vectors: readonly Vector[], rows: number): boolean {
  for (let row = 1; row < rows; row++) if (!isInOrder(vectors, row - 1, vectors, row)) return false;
  return true;
}

function isInOrder(left: readonly Vector[], a: number, right: readonly Vector[], b: number): boolean {
  for (let at = 0; at < left.length; at++) {
    const order = compareValues(left[at] as Vector, a, right[at] as Vector, b);
    if (order !== 0) return order < 0;
  }
  return true;
}

function compareValues(left: Vector, a: number, right: Vector, b: number): number {
  const [isNull, isOtherNull] = [isNullAt(left, a), isNullAt(right, b)];
  if (isNull || isOtherNull) return Number(isNull) - Number(isOtherNull);
  const physical: Physical = kinds[left.column.kind].physical;
  if (physical === 'int32') return signed(left.values, a * 4) - signed(right.values, b * 4);
  if (physical === 'int64') {
    const high = signed(left.values, a * 8 + 4) - signed(right.values, b * 8 + 4);
    return high === 0 ? (signed(left.values, a * 8) >>> 0) - (signed(right.values, b * 8) >>> 0) : high;
  }
  const [from, to] = [left.offsets, right.offsets];
  return compareBytes(left.values, from?.[a] ?? 0, from?.[a + 1] ?? 0, right.values, to?.[b] ?? 0, to?.[b + 1] ?? 0);
}

function isNullAt({ nullCount, validity }: Vector, row: number): boolean {
  return nullCount > 0 && (((validity[row >> 3] ?? 0) >> (row & 7)) & 1) === 0;
}

/** Four bytes, little-endian, as a signed number. */
function signed(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
}

/** A vector of one row, independent of the batch's memory. */
function copyRow(vector: Vector, row: number): Vector {
  const isNull = isNullAt(vector, row);
  const nullity = { column: vector.column, nullCount: isNull ? 1 : 0, validity: Uint8Array.of(isNull ? 0 : 1) };
  if (vector.offsets !== undefined) {
    const values = new Uint8Array(vector.values.subarray(vector.offsets[row], vector.offsets[row + 1]));
    return makeVector(nullity, Int32Array.of(0, values.length), values);
  }
  const width = kinds[vector.column.kind].physical === 'int32' ? 4 : 8;
  return makeVector(nullity, undefined, new Uint8Array(vector.values.subarray(row * width, (row + 1) * width)));
}
