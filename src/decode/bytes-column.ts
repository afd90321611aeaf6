import type { ColumnDef } from '../declare/column.ts';
import type { Arena } from './arena.ts';
import { makeVector, type Vector } from './batch.ts';
import { copyBytes } from './bytes.ts';
import type { ChosenRows } from './chosen-rows.ts';
import { Column, START_ROWS } from './column-buffer.ts';
import { viewOf } from './page-buffer.ts';

/** Free bytes after the used ones: short copies write whole words and may exceed the value. */
const SLACK = 8;

/** Values of variable length: text or binary. */
export class BytesColumn extends Column {
  offsets = new Int32Array(START_ROWS + 1);
  bytes = Buffer.allocUnsafeSlow(START_ROWS * 32);
  /** The same memory as `bytes`. */
  view = viewOf(this.bytes);
  /** End of the bytes used. */
  end = 0;

  grow(row: number): void {
    this.growValidity(row);
    const offsets = new Int32Array(this.capacity + 1);
    offsets.set(this.offsets);
    this.offsets = offsets;
  }

  /** Reserves `length` more bytes. */
  reserve(length: number): void {
    if (this.end + length + SLACK > this.bytes.length) this.enlarge(length);
  }

  private enlarge(length: number): void {
    const bytes = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, this.end + length + SLACK));
    this.bytes.copy(bytes, 0, 0, this.end);
    this.bytes = bytes;
    this.view = viewOf(bytes);
  }

  /** Ends the value of a claimed row; it began where the previous row ended. */
  close(row: number, end: number): void {
    this.end = end;
    this.offsets[row + 1] = end;
  }

  put(row: number, source: Uint8Array, view: DataView, from: number, to: number): boolean {
    if (!this.claim(row)) return false;
    this.reserve(to - from);
    copyBytes(this.bytes, this.view, this.end, source, view, from, to - from);
    this.close(row, this.end + to - from);
    return true;
  }

  putShort(row: number, value: Uint8Array): boolean {
    if (!this.claim(row)) return false;
    this.reserve(value.length);
    let to = this.end;
    for (let i = 0; i < value.length; i++) this.bytes[to++] = value[i] as number;
    this.close(row, to);
    return true;
  }

  putText(row: number, value: string): boolean {
    if (!this.claim(row)) return false;
    this.reserve(value.length * 3);
    this.close(row, this.end + this.bytes.write(value, this.end));
    return true;
  }

  override passTo(row: number): boolean {
    const from = this.next;
    if (!super.passTo(row)) return false;
    const { offsets, end } = this;
    for (let i = from; i < row; i++) offsets[i + 1] = end;
    return true;
  }

  override truncate(rows: number): void {
    if (this.next > rows) this.end = this.offsets[rows] as number;
    super.truncate(rows);
  }

  override clear(): void {
    super.clear();
    this.end = 0;
  }

  byteSize(): number {
    return this.end + this.next * 4;
  }

  gather(chosen: ChosenRows, def: ColumnDef, arena: Arena): Vector {
    const nullity = this.gatherNullity(chosen, def, arena);
    const { rows, runs } = chosen;
    const offsets = arena.ints(rows.length + 1);
    offsets[0] = 0;
    const size = runs === undefined ? this.addLengths(rows, offsets) : this.addRunLengths(rows, runs, offsets);
    const values = arena.take(size);
    const view = new DataView(values.buffer, values.byteOffset);
    for (let i = 0; i < rows.length; ) {
      const first = rows[i] as number;
      const to = offsets[i] as number;
      do i++;
      while (i < rows.length && rows[i] === (rows[i - 1] as number) + 1);
      const length = (offsets[i] as number) - to;
      if (length > 0) copyBytes(values, view, to, this.bytes, this.view, this.offsets[first] as number, length);
    }
    return makeVector(nullity, offsets, values);
  }

  /** Sets the offsets after each row. @returns the size of all */
  private addLengths(rows: Int32Array, into: Int32Array): number {
    const { offsets, next } = this;
    let size = 0;
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i] as number;
      if (row < next) size += (offsets[row + 1] as number) - (offsets[row] as number);
      into[i + 1] = size;
    }
    return size;
  }

  /** The same for runs, of which each is moved as a whole. */
  private addRunLengths(rows: Int32Array, runs: Int32Array, into: Int32Array): number {
    const { offsets } = this;
    let size = 0;
    for (let run = 0; run + 1 < runs.length; run++) {
      const at = runs[run] as number;
      const end = runs[run + 1] as number;
      const first = rows[at] as number;
      const written = this.writtenOf(first, end - at);
      const moved = size - (written === 0 ? 0 : (offsets[first] as number));
      for (let i = 1; i <= written; i++) into[at + i] = (offsets[first + i] as number) + moved;
      size = written === 0 ? size : (offsets[first + written] as number) + moved;
      into.fill(size, at + written + 1, end + 1);
    }
    return size;
  }
}
