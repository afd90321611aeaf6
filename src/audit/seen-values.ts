import { compareBytes, mix } from '../decode/bytes.ts';
import type { BytesColumn } from '../decode/typed-columns.ts';

const EMPTY = -1;
const MIN_SLOTS = 1024;

/** A set of values of a column, as a hash table of row numbers. */
export class SeenValues {
  private readonly column: BytesColumn;
  private slots = new Int32Array(MIN_SLOTS);

  constructor(column: BytesColumn) {
    this.column = column;
  }

  /** Removes all values, and reserves space for some rows. */
  clear(rows: number): void {
    let slots = this.slots.length;
    while (slots < rows * 2) slots *= 2;
    if (slots > this.slots.length) this.slots = new Int32Array(slots);
    this.slots.fill(EMPTY);
  }

  /** Adds a row. @returns the previous row with the same value, if any */
  add(row: number): number | undefined {
    const { slots } = this;
    const mask = slots.length - 1;
    let slot = this.hashOf(row) & mask;
    for (let other = slots[slot] as number; other !== EMPTY; other = slots[slot] as number) {
      if (this.isSame(row, other)) {
        slots[slot] = row;
        return other;
      }
      slot = (slot + 1) & mask;
    }
    slots[slot] = row;
    return undefined;
  }

  private hashOf(row: number): number {
    const { offsets, view } = this.column;
    const end = offsets[row + 1] as number;
    let at = offsets[row] as number;
    let hash = end - at;
    for (; at + 4 <= end; at += 4) hash = mix(hash, view.getInt32(at, true));
    for (; at < end; at++) hash = mix(hash, view.getUint8(at));
    return hash;
  }

  private isSame(row: number, other: number): boolean {
    const { offsets, bytes } = this.column;
    const [from, to] = [offsets[row] as number, offsets[row + 1] as number];
    const [otherFrom, otherTo] = [offsets[other] as number, offsets[other + 1] as number];
    return compareBytes(bytes, from, to, bytes, otherFrom, otherTo) === 0;
  }
}
