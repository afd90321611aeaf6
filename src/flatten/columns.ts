import type { ColumnDef } from '../declare/column.ts';
import { kinds, type Physical } from '../declare/kind.ts';
import type { Vector } from './batch.ts';

const START_ROWS = 1024;

/**
 * A growing column in Arrow's layout. Rows are written in ascending order, each at most once; a row that is passed over is null.
 */
export abstract class Column {
  readonly def: ColumnDef;
  validity = new Uint8Array(START_ROWS >> 3);
  capacity = START_ROWS;
  /** How many rows hold a value. */
  count = 0;
  /** The row after the last one written. */
  next = 0;

  constructor(def: ColumnDef) {
    this.def = def;
  }

  abstract grow(row: number): void;
  /** The first `rows` rows; a view that is valid until the column is changed. */
  abstract vector(rows: number): Vector;
  /** The given rows, in the given order, as a new vector of column `def`. */
  abstract gather(rows: Int32Array, def: ColumnDef): Vector;

  /** Claims a row. False when it was written already, or a later one was. */
  claim(row: number): boolean {
    if (row < this.next) return false;
    if (row >= this.capacity) this.grow(row);
    this.validity[row >> 3] = (this.validity[row >> 3] as number) | (1 << (row & 7));
    this.next = row + 1;
    this.count++;
    return true;
  }

  isSet(row: number): boolean {
    return row < this.next && (((this.validity[row >> 3] as number) >> (row & 7)) & 1) === 1;
  }

  /** Forgets all rows from `rows` on. */
  truncate(rows: number): void {
    for (let row = rows; row < this.next; row++) {
      const bit = 1 << (row & 7);
      if (((this.validity[row >> 3] as number) & bit) !== 0) {
        this.validity[row >> 3] = (this.validity[row >> 3] as number) & ~bit;
        this.count--;
      }
    }
    if (this.next > rows) this.next = rows;
  }

  /** Forgets everything but keeps the memory. */
  clear(): void {
    this.validity.fill(0, 0, (this.next + 7) >> 3);
    this.next = 0;
    this.count = 0;
  }

  /** Bytes that the values take. */
  abstract byteSize(): number;

  protected growValidity(row: number): void {
    let capacity = this.capacity;
    while (capacity <= row) capacity *= 2;
    const validity = new Uint8Array(capacity >> 3);
    validity.set(this.validity);
    this.validity = validity;
    this.capacity = capacity;
  }

  protected validityOf(rows: number): Uint8Array {
    if (rows > this.capacity) this.grow(rows - 1);
    return this.validity.subarray(0, (rows + 7) >> 3);
  }

  protected gatherValidity(rows: Int32Array): { validity: Uint8Array; nullCount: number } {
    const validity = new Uint8Array((rows.length + 7) >> 3);
    let set = 0;
    for (let i = 0; i < rows.length; i++) {
      if (this.isSet(rows[i] as number)) {
        validity[i >> 3] = (validity[i >> 3] as number) | (1 << (i & 7));
        set++;
      }
    }
    return { validity, nullCount: rows.length - set };
  }
}

/** Bytes of varying length: text, or binary. */
export class BytesColumn extends Column {
  offsets = new Int32Array(START_ROWS + 1);
  bytes = Buffer.allocUnsafeSlow(START_ROWS * 32);
  /** End of the bytes used. */
  end = 0;
  private filled = 0;

  grow(row: number): void {
    this.growValidity(row);
    const offsets = new Int32Array(this.capacity + 1);
    offsets.set(this.offsets);
    this.offsets = offsets;
  }

  /** Makes room for `length` more bytes. */
  reserve(length: number): void {
    if (this.end + length <= this.bytes.length) return;
    const bytes = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, this.end + length));
    this.bytes.copy(bytes, 0, 0, this.end);
    this.bytes = bytes;
  }

  /** Begins a row; its bytes are those between the present `end` and the one that `close` is given. */
  open(row: number): boolean {
    if (!this.claim(row)) return false;
    this.fillTo(row);
    return true;
  }

  close(row: number, end: number): void {
    this.end = end;
    this.offsets[row + 1] = end;
    this.filled = row + 1;
  }

  put(row: number, source: Uint8Array, from: number, to: number): boolean {
    if (!this.open(row)) return false;
    this.reserve(to - from);
    this.bytes.set(source.subarray(from, to), this.end);
    this.close(row, this.end + to - from);
    return true;
  }

  putText(row: number, value: string): boolean {
    const bytes = Buffer.from(value);
    return this.put(row, bytes, 0, bytes.length);
  }

  private fillTo(row: number): void {
    const { offsets, end } = this;
    for (let i = this.filled; i < row; i++) offsets[i + 1] = end;
    if (this.filled < row) this.filled = row;
  }

  override truncate(rows: number): void {
    if (this.filled > rows) {
      this.filled = rows;
      this.end = this.offsets[rows] as number;
    }
    super.truncate(rows);
  }

  override clear(): void {
    super.clear();
    this.end = 0;
    this.filled = 0;
    this.offsets[0] = 0;
  }

  byteSize(): number {
    return this.end + this.next * 4;
  }

  vector(rows: number): Vector {
    const validity = this.validityOf(rows);
    this.fillTo(rows);
    return {
      column: this.def,
      nullCount: rows - this.count,
      validity,
      offsets: this.offsets.subarray(0, rows + 1),
      values: this.bytes.subarray(0, this.end),
    };
  }

  gather(rows: Int32Array, def: ColumnDef): Vector {
    const offsets = new Int32Array(rows.length + 1);
    let size = 0;
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i] as number;
      if (this.isSet(row)) size += (this.offsets[row + 1] as number) - (this.offsets[row] as number);
      offsets[i + 1] = size;
    }
    const values = new Uint8Array(size);
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i] as number;
      const to = offsets[i + 1] as number;
      let at = offsets[i] as number;
      for (let from = this.offsets[row] as number; at < to; ) values[at++] = this.bytes[from++] as number;
    }
    return { column: def, offsets, values, ...this.gatherValidity(rows) };
  }
}

/** Values of a fixed number of 32-bit words, little-endian. */
export class WordsColumn extends Column {
  readonly width: number;
  words: Uint32Array;

  constructor(def: ColumnDef, width: number) {
    super(def);
    this.width = width;
    this.words = new Uint32Array(START_ROWS * width);
  }

  grow(row: number): void {
    this.growValidity(row);
    const words = new Uint32Array(this.capacity * this.width);
    words.set(this.words);
    this.words = words;
  }

  put32(row: number, value: number): boolean {
    if (!this.claim(row)) return false;
    this.words[row] = value;
    return true;
  }

  put64(row: number, low: number, high: number): boolean {
    if (!this.claim(row)) return false;
    this.words[2 * row] = low;
    this.words[2 * row + 1] = high;
    return true;
  }

  /** Writes a signed value in two's complement; the caller has checked that it fits. */
  putBigInt(row: number, value: bigint): boolean {
    if (!this.claim(row)) return false;
    let rest = BigInt.asUintN(this.width * 32, value);
    for (let i = 0; i < this.width; i++) {
      this.words[row * this.width + i] = Number(rest & 0xffffffffn);
      rest >>= 32n;
    }
    return true;
  }

  byteSize(): number {
    return this.next * this.width * 4;
  }

  vector(rows: number): Vector {
    const validity = this.validityOf(rows);
    return {
      column: this.def,
      nullCount: rows - this.count,
      validity,
      offsets: undefined,
      values: new Uint8Array(this.words.buffer, 0, rows * this.width * 4),
    };
  }

  gather(rows: Int32Array, def: ColumnDef): Vector {
    const { width, words } = this;
    const gathered = new Uint32Array(rows.length * width);
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i] as number;
      for (let w = 0; w < width; w++) gathered[i * width + w] = words[row * width + w] as number;
    }
    return { column: def, offsets: undefined, values: new Uint8Array(gathered.buffer), ...this.gatherValidity(rows) };
  }
}

/** One bit a row. */
export class BoolColumn extends Column {
  bits = new Uint8Array(START_ROWS >> 3);

  grow(row: number): void {
    this.growValidity(row);
    const bits = new Uint8Array(this.capacity >> 3);
    bits.set(this.bits);
    this.bits = bits;
  }

  put(row: number, value: boolean): boolean {
    if (!this.claim(row)) return false;
    const bit = 1 << (row & 7);
    const byte = this.bits[row >> 3] as number;
    this.bits[row >> 3] = value ? byte | bit : byte & ~bit;
    return true;
  }

  byteSize(): number {
    return this.next >> 3;
  }

  vector(rows: number): Vector {
    const validity = this.validityOf(rows);
    return {
      column: this.def,
      nullCount: rows - this.count,
      validity,
      offsets: undefined,
      values: this.bits.subarray(0, (rows + 7) >> 3),
    };
  }

  gather(rows: Int32Array, def: ColumnDef): Vector {
    const values = new Uint8Array((rows.length + 7) >> 3);
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i] as number;
      const set = this.isSet(row) && (((this.bits[row >> 3] as number) >> (row & 7)) & 1) === 1;
      if (set) values[i >> 3] = (values[i >> 3] as number) | (1 << (i & 7));
    }
    return { column: def, offsets: undefined, values, ...this.gatherValidity(rows) };
  }
}

const WORDS: Readonly<Record<Exclude<Physical, 'utf8' | 'binary' | 'bool'>, number>> = {
  int32: 1,
  int64: 2,
  decimal128: 4,
};

/** An empty column of the layout that the definition's kind asks for. */
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
