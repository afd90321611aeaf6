import type { ColumnDef } from '../declare/column.ts';
import { kinds } from '../declare/kind.ts';
import type { TableDef } from '../declare/table.ts';
import type { ProofMemory } from '../proof/proof-memory.ts';
import type { RawRows } from '../sql/database.ts';

/** A column of numbers or flags of the query. */
interface FixedColumn {
  readonly def: ColumnDef;
  readonly type: string;
  readonly width: number;
  /** Address of the first value. */
  readonly values: number;
}

const TYPES: Readonly<Record<string, readonly [type: string, width: number]>> = {
  bool: ['BOOLEAN', 1],
  int32: ['INTEGER', 4],
  int64: ['BIGINT', 8],
  decimal128: ['DECIMAL(38, 0)', 16],
};

const LENGTH = 4;

/**
 * Rows of a table that go from the memory of a database to that of the proof. Texts and bags of a row come in one blob; no value becomes one
 * of JavaScript.
 */
export class StoredRows {
  private readonly memory: ProofMemory;
  /** Maximum number of rows. */
  private readonly room: number;
  private readonly texts: readonly ColumnDef[];
  private readonly bags: readonly ColumnDef[];
  private readonly fixed: readonly FixedColumn[];
  /** Addresses: of the blob of each row, of the lengths of packed values, and of the validity of all columns. */
  private readonly starts: number;
  private readonly lengths: number;
  private readonly validity: number;
  private readonly scratch: number;
  private offsets = 0;
  /** Number of rows. */
  count = 0;

  constructor(memory: ProofMemory, { columns }: TableDef, names: readonly string[], room: number) {
    this.memory = memory;
    this.room = room;
    const own = columns.filter(({ name }) => names.includes(name));
    const isPacked = ({ kind }: ColumnDef): boolean => TYPES[kinds[kind].physical] === undefined;
    const isBag = ({ kind }: ColumnDef): boolean => kinds[kind].physical === 'binary';
    this.texts = own.filter((def) => isPacked(def) && !isBag(def));
    this.bags = own.filter(isBag);
    this.fixed = own.flatMap((def) => {
      const [type, width] = TYPES[kinds[def.kind].physical] ?? [];
      if (type === undefined || width === undefined) return [];
      return [{ def, type, width, values: memory.reserve(room * width) }];
    });
    this.starts = memory.reserve(room * LENGTH);
    this.lengths = memory.reserve(room * LENGTH * this.packed);
    this.validity = memory.reserve((this.packed + this.fixed.length) * this.bitBytes);
    this.scratch = memory.reserve(room);
  }

  private get packed(): number {
    return this.texts.length + this.bags.length;
  }

  /** Bytes of the validity of a column. */
  private get bitBytes(): number {
    return (this.room >> 3) + 16;
  }

  /** The columns of the query whose rows are added: the blob, the lengths of its values, then numbers and flags. */
  columns(quote: (name: string) => string): readonly string[] {
    const texts = this.texts.map(({ name }) => quote(name));
    const bags = this.bags.map(({ name }) => quote(name));
    return [
      [`encode(concat('', ${texts.join(', ')}))`, ...bags.map((name) => `coalesce(${name}, ''::BLOB)`)].join(' || '),
      ...texts.map((name) => `strlen(${name})::INTEGER`),
      ...bags.map((name) => `octet_length(${name})::INTEGER`),
      ...this.fixed.map(({ def, type }) => `${quote(def.name)}::${type}`),
    ];
  }

  /** Copies rows. */
  add(rows: RawRows): void {
    const { memory, count, packed, fixed } = this;
    if (count + rows.count > this.room) throw new Error(`expected ${this.room} rows, got more`);
    const blobs = rows.blobs(0, (piece) => memory.put(piece));
    memory.words(this.starts + count * LENGTH, rows.count).set(blobs);
    for (let at = 0; at < packed; at++) {
      memory.put(rows.values(at + 1, LENGTH), this.lengths + (at * this.room + count) * LENGTH);
      this.addBits(at, rows.validity(at + 1), rows.count);
    }
    for (const [at, { width, values }] of fixed.entries()) {
      memory.put(rows.values(packed + at + 1, width), values + count * width);
      this.addBits(packed + at, rows.validity(packed + at + 1), rows.count);
    }
    this.count += rows.count;
  }

  /** @param bits null if all are set */
  private addBits(column: number, bits: Uint8Array | null, count: number): void {
    const { memory, validity, bitBytes, scratch } = this;
    const from = bits === null ? 0 : memory.put(bits, scratch);
    memory.prover.appendBits(validity + column * bitBytes, this.count, from, count);
  }

  /** Describes the columns, whose rows are complete, as those of some names from `first` on. */
  describe(names: readonly string[], first: number): void {
    const { memory, starts, lengths, room, validity, bitBytes, packed, count } = this;
    const step = (packed + 1) * LENGTH;
    this.offsets = memory.reserve(count * step);
    memory.prover.placeOffsets(starts, lengths, room, validity, bitBytes, packed, count, this.offsets);
    const placed = [
      ...[...this.texts, ...this.bags].map(({ name }, at) => ({
        name,
        offsets: this.offsets + at * LENGTH,
        values: 0,
        width: 0,
        step,
      })),
      ...this.fixed.map(({ def, values, width }) => ({ name: def.name, offsets: 0, values, width, step: 0 })),
    ];
    for (const [at, { name, ...column }] of placed.entries()) {
      const index = names.indexOf(name);
      if (index >= 0) memory.describe(first + index, { ...column, rows: count, validity: validity + at * bitBytes });
    }
  }

  /** A text of the row. */
  text(name: string, row: number): string {
    const at = this.texts.findIndex((def) => def.name === name);
    const [from = 0, to = 0] = this.memory.words(this.offsets + (row * (this.packed + 1) + at) * LENGTH, 2);
    return Buffer.from(this.memory.prover.memory.buffer, from, to - from).toString('latin1');
  }

  /** A 32-bit integer of the row. */
  integer(name: string, row: number): number {
    const column = this.fixed.find(({ def }) => def.name === name);
    return column === undefined ? 0 : (this.memory.words(column.values + row * column.width, 1)[0] as number);
  }
}
