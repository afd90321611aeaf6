import type { ColumnDef } from '../declare/column.ts';
import { kinds } from '../declare/kind.ts';
import type { TableDef } from '../declare/table.ts';
import type { ProofColumn, ProofTable } from './content-proof.ts';

/** Rows of a query in the memory of a database. */
interface RawRows {
  readonly count: number;
  validity(column: number): Uint8Array | null;
  values(column: number, width: number): Uint8Array;
  blob(column: number, row: number): Uint8Array;
}

/** A column of numbers or flags of the query. */
interface FixedColumn {
  readonly def: ColumnDef;
  readonly type: string;
  readonly width: number;
}

const TYPES: Readonly<Record<string, readonly [type: string, width: number]>> = {
  bool: ['BOOLEAN', 1],
  int32: ['INTEGER', 4],
  int64: ['BIGINT', 8],
  decimal128: ['DECIMAL(38, 0)', 16],
};

/**
 * Rows of a table that are read from a database for the proof. Texts and bags of a row come in one blob: a value in JavaScript for each
 * would take longer than the proof.
 */
export class StoredRows {
  private readonly packed: readonly ColumnDef[];
  private readonly fixed: readonly FixedColumn[];
  /** The blobs, one after the other; and where each begins, and the last one ends. */
  private blobs = Buffer.alloc(4096);
  private starts = new Int32Array(1024);
  private rows = 0;
  /** Lengths of the packed values, then numbers and flags. */
  private readonly values: Growing[];
  private readonly validity: Bits[];

  constructor({ columns }: TableDef, names: readonly string[]) {
    const own = columns.filter(({ name }) => names.includes(name));
    const isPacked = ({ kind }: ColumnDef): boolean => TYPES[kinds[kind].physical] === undefined;
    const isBag = ({ kind }: ColumnDef): boolean => kinds[kind].physical === 'binary';
    const texts = own.filter((def) => isPacked(def) && !isBag(def));
    this.packed = [...texts, ...own.filter(isBag)];
    this.fixed = own.flatMap((def) => {
      const [type, width] = TYPES[kinds[def.kind].physical] ?? [];
      return type === undefined || width === undefined ? [] : [{ def, type, width }];
    });
    const widths = [...this.packed.map(() => 4), ...this.fixed.map(({ width }) => width)];
    this.values = widths.map((width) => new Growing(width));
    this.validity = widths.map(() => new Bits());
  }

  get count(): number {
    return this.rows;
  }

  /** The columns of the query whose rows are added: the blob, the lengths of its values, then numbers and flags. */
  columns(quote: (name: string) => string): readonly string[] {
    const isBag = ({ kind }: ColumnDef): boolean => kinds[kind].physical === 'binary';
    const texts = this.packed.filter((def) => !isBag(def)).map(({ name }) => quote(name));
    const bags = this.packed.filter(isBag).map(({ name }) => quote(name));
    return [
      [`encode(concat('', ${texts.join(', ')}))`, ...bags.map((name) => `coalesce(${name}, ''::BLOB)`)].join(' || '),
      ...texts.map((name) => `strlen(${name})::INTEGER`),
      ...bags.map((name) => `octet_length(${name})::INTEGER`),
      ...this.fixed.map(({ def, type }) => `${quote(def.name)}::${type}`),
    ];
  }

  /** Copies rows. */
  add(rows: RawRows): void {
    const before = this.count;
    for (let row = 0; row < rows.count; row++) this.addBlob(rows.blob(0, row));
    for (const [at, own] of this.values.entries()) {
      own.add(rows.values(at + 1, own.width), before);
      this.validity[at]?.add(rows.validity(at + 1), before, rows.count);
    }
    for (const at of this.packed.keys()) this.clearNulls(at, before);
  }

  private addBlob(blob: Uint8Array): void {
    const start = this.starts[this.rows] as number;
    const end = start + blob.length;
    if (end > this.blobs.length) this.blobs = Buffer.concat([this.blobs], Math.max(2 * this.blobs.length, end));
    if (this.rows + 1 === this.starts.length) {
      const larger = new Int32Array(2 * this.starts.length);
      larger.set(this.starts);
      this.starts = larger;
    }
    this.blobs.set(blob, start);
    this.rows++;
    this.starts[this.rows] = end;
  }

  /** The length of null is not set. */
  private clearNulls(at: number, before: number): void {
    const [lengths, validity] = [this.values[at]?.words(), this.validity[at]];
    if (lengths === undefined || validity === undefined) return;
    for (let row = before; row < this.count; row++) if (!validity.has(row)) lengths[row] = 0;
  }

  /** The values of a text column, in the order of the rows. */
  texts(name: string): readonly string[] {
    const at = this.packed.findIndex((def) => def.name === name);
    const lengths = this.values.slice(0, at + 1).map((own) => own.words());
    return Array.from({ length: this.count }, (_, row) => {
      let start = this.starts[row] as number;
      for (let before = 0; before < at; before++) start += (lengths[before] as Int32Array)[row] as number;
      return this.blobs.toString('latin1', start, start + ((lengths[at] as Int32Array)[row] as number));
    });
  }

  /** The values of a column of 32-bit integers, in the order of the rows. */
  integers(name: string): Int32Array {
    const at = this.fixed.findIndex(({ def }) => def.name === name);
    return this.values[this.packed.length + at]?.words().subarray(0, this.count) ?? new Int32Array();
  }

  /**
   * The rows, to be proven.
   *
   * @param order positions of the rows, as they came; default: all of them
   */
  table(order?: Uint32Array): ProofTable {
    const rows = order?.length ?? this.count;
    const validity = this.validity.map((bits) => bits.chosen(order, rows));
    const columns = new Map<string, ProofColumn>();
    // All packed values share one buffer, and one list of offsets: those of a row, and its end.
    const shared = { rows, width: 0, values: this.blobs, offsets: this.offsetsOf(order, rows) };
    for (const [at, { name }] of this.packed.entries()) {
      const place = { at, of: this.packed.length + 1 };
      columns.set(name, { ...shared, validity: validity[at] as Uint8Array, place });
    }
    for (const [at, { def, width }] of this.fixed.entries()) {
      const from = this.packed.length + at;
      const own = this.values[from] as Growing;
      const isFlag = kinds[def.kind].physical === 'bool';
      const values = isFlag ? own.bits(order, rows) : own.chosen(order, rows);
      const fixed = { rows, validity: validity[from] as Uint8Array, offsets: undefined, values };
      columns.set(def.name, { ...fixed, width: isFlag ? 0 : width });
    }
    return (name) => columns.get(name);
  }

  private offsetsOf(order: Uint32Array | undefined, rows: number): Int32Array {
    const step = this.packed.length;
    const offsets = new Int32Array(rows * (step + 1));
    const lengths = this.values.slice(0, step).map((own) => own.words());
    let next = 0;
    for (let to = 0; to < rows; to++) {
      const row = order === undefined ? to : (order[to] as number);
      let end = this.starts[row] as number;
      for (let at = 0; at < step; at++) {
        offsets[next++] = end;
        end += (lengths[at] as Int32Array)[row] as number;
      }
      offsets[next++] = end;
    }
    return offsets;
  }
}

/** Values of a fixed width, one after the other. */
class Growing {
  readonly width: number;
  private bytes = new Uint8Array(4096);

  constructor(width: number) {
    this.width = width;
  }

  /** @param before number of values so far */
  add(more: Uint8Array, before: number): void {
    const start = before * this.width;
    this.bytes = grown(this.bytes, start + more.length);
    this.bytes.set(more, start);
  }

  words(): Int32Array {
    return new Int32Array(this.bytes.buffer);
  }

  /** The values of some rows. */
  chosen(order: Uint32Array | undefined, rows: number): Uint8Array {
    if (order === undefined) return this.bytes.subarray(0, rows * this.width);
    const step = this.width >> 2;
    const [from, to] = [this.words(), new Int32Array(order.length * step)];
    let next = 0;
    for (let at = 0; at < order.length; at++) {
      const start = (order[at] as number) * step;
      for (let word = 0; word < step; word++) to[next++] = from[start + word] as number;
    }
    return new Uint8Array(to.buffer);
  }

  /** Flags of some rows, a bit each. */
  bits(order: Uint32Array | undefined, rows: number): Uint8Array {
    const bits = new Uint8Array((rows + 7) >> 3);
    const { bytes } = this;
    for (let at = 0; at < rows; at++)
      if (bytes[order === undefined ? at : (order[at] as number)] === 1) setBit(bits, at);
    return bits;
  }
}

/** One bit per row. */
class Bits {
  private bytes = new Uint8Array(512);

  /** @param more bits; null if all are set */
  add(more: Uint8Array | null, before: number, count: number): void {
    this.bytes = grown(this.bytes, (before + count + 7) >> 3);
    const isAligned = (before & 7) === 0;
    if (isAligned && more !== null) this.bytes.set(more.subarray(0, (count + 7) >> 3), before >> 3);
    else if (isAligned) this.bytes.fill(0xff, before >> 3, (before + count + 7) >> 3);
    else for (let row = 0; row < count; row++) if (more === null || isSet(more, row)) setBit(this.bytes, before + row);
    // Bits after the last row are free for those to come.
    const rest = (before + count) & 7;
    if (rest > 0) this.bytes[(before + count) >> 3] = (this.bytes[(before + count) >> 3] as number) & ((1 << rest) - 1);
  }

  has(row: number): boolean {
    return isSet(this.bytes, row);
  }

  /** The bits of some rows. */
  chosen(order: Uint32Array | undefined, rows: number): Uint8Array {
    if (order === undefined) return this.bytes.subarray(0, (rows + 7) >> 3);
    const bits = new Uint8Array((order.length + 7) >> 3);
    const { bytes } = this;
    for (let at = 0; at < order.length; at++) if (isSet(bytes, order[at] as number)) setBit(bits, at);
    return bits;
  }
}

function grown(bytes: Uint8Array<ArrayBuffer>, least: number): Uint8Array<ArrayBuffer> {
  if (least <= bytes.length) return bytes;
  const larger = new Uint8Array(Math.max(bytes.length * 2, (least + 63) & ~63));
  larger.set(bytes);
  return larger;
}

function isSet(bits: Uint8Array, row: number): boolean {
  return (((bits[row >> 3] as number) >> (row & 7)) & 1) === 1;
}

function setBit(bits: Uint8Array, at: number): void {
  bits[at >> 3] = (bits[at >> 3] as number) | (1 << (at & 7));
}
