import type { ColumnDef } from '../declare/column.ts';
import { kinds } from '../declare/kind.ts';
import type { TableDef } from '../declare/table.ts';
import type { ProofColumn, ProofTable } from './content-proof.ts';

type Row = readonly unknown[];

/** Rows of a query, whose columns have the names and types of those of a table. */
export class StoredRows {
  readonly names: readonly string[];
  private readonly defs: readonly ColumnDef[];
  private readonly rows: Row[] = [];

  /** @param names columns of the table, in the order of the query's */
  constructor({ columns }: TableDef, names: readonly string[]) {
    this.defs = columns.filter(({ name }) => names.includes(name));
    this.names = this.defs.map(({ name }) => name);
  }

  get count(): number {
    return this.rows.length;
  }

  add(row: Row): void {
    this.rows.push(row);
  }

  /** The rows, to be proven. */
  readonly table: ProofTable = (name) => {
    const at = this.names.indexOf(name);
    const def = this.defs[at];
    return def === undefined
      ? undefined
      : columnOf(
          def,
          this.rows.map((row) => row[at]),
        );
  };

  /** A text; empty for null. */
  text(name: string, row: number): string {
    return String(this.rows[row]?.[this.names.indexOf(name)] ?? '');
  }
}

const WIDTHS: Readonly<Record<string, number>> = { int32: 4, int64: 8, decimal128: 16 };

/** Values of DuckDB in Arrow's layout. */
function columnOf(def: ColumnDef, given: readonly unknown[]): ProofColumn {
  const { physical } = kinds[def.kind];
  const rows = given.length;
  const validity = new Uint8Array((rows + 7) >> 3);
  const isText = physical === 'utf8' || physical === 'binary';
  const width = WIDTHS[physical] ?? 0;
  const values = Buffer.alloc(physical === 'bool' ? validity.length : rows * width);
  const offsets = isText ? new Int32Array(rows + 1) : undefined;
  const parts: Uint8Array[] = [];
  let end = 0;
  for (const [row, value] of given.entries()) {
    if (value !== null && value !== undefined) {
      setBit(validity, row);
      if (isText) parts.push(bytesOf(value));
      else if (physical !== 'bool') putNumber(values, row * width, width, numberOf(value));
      else if (value === true) setBit(values, row);
      if (isText) end += parts.at(-1)?.length ?? 0;
    }
    if (offsets !== undefined) offsets[row + 1] = end;
  }
  return { rows, validity, offsets, values: isText ? Buffer.concat(parts) : values, width };
}

function setBit(bits: Uint8Array, at: number): void {
  bits[at >> 3] = (bits[at >> 3] as number) | (1 << (at & 7));
}

function bytesOf(value: unknown): Uint8Array {
  return typeof value === 'string' ? Buffer.from(value) : (value as { readonly bytes: Uint8Array }).bytes;
}

function putNumber(values: Buffer, at: number, width: number, value: bigint): void {
  if (width === 4) values.writeInt32LE(Number(value), at);
  else values.writeBigInt64LE(BigInt.asIntN(64, value), at);
  if (width === 16) values.writeBigInt64LE(value >> 64n, at + 8);
}

/** An integer, or a decimal without a fraction. */
function numberOf(value: unknown): bigint {
  if (typeof value === 'bigint') return value;
  return typeof value === 'number' ? BigInt(value) : (value as { readonly value: bigint }).value;
}
