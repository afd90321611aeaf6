import type { ColumnDef } from '../declare/column.ts';
import { kinds, type Physical } from '../declare/kind.ts';
import type { TableDef } from '../declare/table.ts';
import { type ProofMemory, STRINGS } from '../proof/proof-memory.ts';
import { pointedBytes, type RawRows, STRING_BYTES } from '../sql/database.ts';

/** A column of the query. */
interface StoredColumn {
  readonly name: string;
  readonly type: string;
  readonly isText: boolean;
  readonly width: number;
  /** Addresses of the first value and of the validity bits. */
  readonly values: number;
  readonly validity: number;
}

const TYPES: Readonly<Record<Physical, readonly [type: string, width: number]>> = {
  bool: ['BOOLEAN', 1],
  int32: ['INTEGER', 4],
  int64: ['BIGINT', 8],
  decimal128: ['DECIMAL(38, 0)', 16],
  utf8: ['VARCHAR', STRING_BYTES],
  binary: ['BLOB', STRING_BYTES],
};

/** Rows of a table, copied from the memory of a database to that of the proof without conversion to JavaScript values. */
export class StoredRows {
  private readonly memory: ProofMemory;
  /** Maximum number of rows. */
  private readonly capacity: number;
  private readonly columns: readonly StoredColumn[];
  private readonly scratch: number;
  /** Number of rows. */
  count = 0;

  constructor(memory: ProofMemory, { columns }: TableDef, names: readonly string[], capacity: number) {
    this.memory = memory;
    this.capacity = capacity;
    this.columns = columns.filter(({ name }) => names.includes(name)).map((def) => this.place(def));
    this.scratch = memory.reserve(capacity);
  }

  private place({ name, kind }: ColumnDef): StoredColumn {
    const { physical } = kinds[kind];
    const [type, width] = TYPES[physical];
    const isText = physical === 'utf8' || physical === 'binary';
    const [values, validity] = [
      this.memory.reserve(this.capacity * width),
      this.memory.reserve((this.capacity >> 3) + 16),
    ];
    return { name, type, isText, width, values, validity };
  }

  /** SQL for the columns of the query whose rows are added. */
  selected(quote: (name: string) => string): string {
    return this.columns.map(({ name, type }) => `${quote(name)}::${type}`).join(', ');
  }

  /** Copies rows. */
  add(rows: RawRows): void {
    const { memory, count, columns } = this;
    const end = count + rows.count;
    if (end > this.capacity) throw new Error(`expected ${this.capacity} rows, got more`);
    for (const [at, { isText, width, values, validity }] of columns.entries()) {
      const read = rows.values(at, width);
      memory.put(read, values + count * width);
      const bits = rows.validity(at);
      memory.prover.appendBits(validity, count, bits === null ? 0 : memory.put(bits, this.scratch), rows.count);
      if (isText) this.fetchTexts(read, values, validity);
    }
    this.count = end;
  }

  /** Copies the texts that the strings of a column point to, one copy per contiguous piece. */
  private fetchTexts(strings: Uint8Array, values: number, validity: number): void {
    const { memory, count } = this;
    const { prover } = memory;
    const end = count + strings.length / STRING_BYTES;
    for (let row = count; ; ) {
      row = prover.findPiece(values, validity, row, end);
      if (row === end) return;
      row = prover.linkPiece(values, memory.put(pointedBytes(strings, row - count, prover.pieceSize())));
    }
  }

  /** Describes the columns with these names to the proof, at indices from `first` on. No rows may follow. */
  describe(names: readonly string[], first: number): void {
    for (const { name, isText, width, values, validity } of this.columns) {
      const index = names.indexOf(name);
      if (index < 0) continue;
      this.memory.describe(first + index, { rows: this.count, validity, offsets: isText ? STRINGS : 0, values, width });
    }
  }

  /** A text of the row. */
  text(name: string, row: number): string {
    const { prover } = this.memory;
    const string = this.addressOf(name, row, STRING_BYTES);
    const from = prover.textAt(string);
    return Buffer.from(prover.memory.buffer, from, this.memory.words(string, 1)[0]).toString('latin1');
  }

  /** A 32-bit integer of the row. */
  integer(name: string, row: number): number {
    return this.memory.words(this.addressOf(name, row, 4), 1)[0] as number;
  }

  private addressOf(name: string, row: number, width: number): number {
    const column = this.columns.find((each) => each.name === name);
    if (column === undefined) throw new Error(`expected a column of the query, got ${name}`);
    return column.values + row * width;
  }
}
