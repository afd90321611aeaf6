import type { ColumnDef } from '../declare/column.ts';
import { kinds, type Physical } from '../declare/kind.ts';
import type { Kernel } from './kernel.ts';

/** A view of a column in the kernel's memory, valid until the next call of its decoder. */
abstract class Column {
  readonly def: ColumnDef;
  /** Address in the kernel's memory. */
  address = 0;
  /** The row after the last one written or skipped. */
  next = 0;
  validity: Uint8Array = new Uint8Array(0);

  constructor(def: ColumnDef) {
    this.def = def;
  }

  /** Width of the column, as `wasm/kernel/columns.ts` names it. */
  abstract readonly bytesPerRow: number;

  protected abstract refreshValues(kernel: Kernel, values: number, offsets: number, end: number): void;

  /** Updates the view to the current state of the column. */
  refresh(kernel: Kernel): void {
    const [, capacity = 0, next = 0, , validity = 0, values = 0, offsets = 0, , end = 0] = kernel.struct(this.address);
    this.next = next;
    this.validity = kernel.bytes.subarray(validity, validity + (capacity >> 3));
    this.refreshValues(kernel, values, offsets, end);
  }

  isSet(row: number): boolean {
    return row < this.next && (((this.validity[row >> 3] as number) >> (row & 7)) & 1) === 1;
  }
}

/** Values of variable length: text or binary. */
export class BytesColumn extends Column {
  readonly bytesPerRow = 0;
  offsets: Int32Array = new Int32Array(0);
  bytes: Buffer = Buffer.alloc(0);
  /** The same memory as `bytes`. */
  view: DataView = new DataView(this.bytes.buffer);

  protected refreshValues(kernel: Kernel, values: number, offsets: number, end: number): void {
    const { buffer } = kernel.words;
    this.offsets = new Int32Array(buffer, offsets, this.next + 1);
    this.bytes = kernel.bytes.subarray(values, values + end);
    this.view = new DataView(buffer, values, end);
  }
}

/** Values of a fixed number of 32-bit words, little-endian. */
export class WordsColumn extends Column {
  readonly width: number;
  words: Uint32Array = new Uint32Array(0);

  constructor(def: ColumnDef, width: number) {
    super(def);
    this.width = width;
  }

  get bytesPerRow(): number {
    return 4 * this.width;
  }

  /** The unsigned value of a 64-bit row. */
  unsigned64(row: number): bigint {
    return (BigInt(this.words[2 * row + 1] as number) << 32n) | BigInt(this.words[2 * row] as number);
  }

  /** The signed value of a 64-bit row. */
  signed64(row: number): bigint {
    return BigInt.asIntN(64, this.unsigned64(row));
  }

  protected refreshValues({ words }: Kernel, values: number): void {
    this.words = words.subarray(values >> 2, (values >> 2) + this.next * this.width);
  }
}

/** One bit per row. */
export class BoolColumn extends Column {
  readonly bytesPerRow = 1;
  bits: Uint8Array = new Uint8Array(0);

  /** The value of a row; undefined for null. */
  at(row: number): boolean | undefined {
    return this.isSet(row) ? (((this.bits[row >> 3] as number) >> (row & 7)) & 1) === 1 : undefined;
  }

  protected refreshValues({ bytes }: Kernel, values: number): void {
    this.bits = bytes.subarray(values, values + ((this.next + 7) >> 3));
  }
}

const WORDS: Readonly<Record<Exclude<Physical, 'utf8' | 'binary' | 'bool'>, number>> = {
  int32: 1,
  int64: 2,
  decimal128: 4,
};

/** A column with the layout of its kind. */
export function createColumn(def: ColumnDef): BytesColumn | WordsColumn | BoolColumn {
  const { physical } = kinds[def.kind];
  switch (physical) {
    case 'utf8':
    case 'binary':
      return new BytesColumn(def);
    case 'bool':
      return new BoolColumn(def);
    default:
      return new WordsColumn(def, WORDS[physical]);
  }
}

export type AnyColumn = BytesColumn | WordsColumn | BoolColumn;
