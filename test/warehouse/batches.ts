import fc from 'fast-check';
import type { ColumnDef } from '../../src/declare/column.ts';
import { kinds } from '../../src/declare/kind.ts';
import type { TableDef } from '../../src/declare/table.ts';
import type { Batch, Vector } from '../../src/decode/batch.ts';

/** A value as tests write it: texts, bytes, truth values; every number is a bigint (dates in days, times in microseconds). */
export type Value = string | Uint8Array | boolean | bigint | null;

/** A batch from rows of JavaScript values, in the order of the table's columns. */
export function makeBatch(table: TableDef, rows: readonly (readonly Value[])[]): Batch {
  return {
    table,
    rows: rows.length,
    vectors: table.columns.map((column, at) =>
      makeVector(
        column,
        rows.map((row) => row[at] ?? null),
      ),
    ),
  };
}

/** A batch from objects; a column that is not named is null. */
export function makeBatchOf(table: TableDef, rows: readonly Readonly<Record<string, Value>>[]): Batch {
  return makeBatch(
    table,
    rows.map((row) => table.columns.map(({ name }) => row[name] ?? null)),
  );
}

function makeVector(column: ColumnDef, cells: readonly Value[]): Vector {
  const validity = new Uint8Array(((cells.length + 7) >> 3) + 3);
  cells.forEach((cell, row) => {
    if (cell !== null) setBit(validity, row);
  });
  const nullCount = cells.filter((cell) => cell === null).length;
  const { physical } = kinds[column.kind];
  switch (physical) {
    case 'utf8':
    case 'binary': {
      const parts = cells.map((cell) => (cell === null ? Buffer.alloc(0) : Buffer.from(cell as string | Uint8Array)));
      const offsets = new Int32Array(cells.length + 1);
      parts.forEach((part, row) => {
        offsets[row + 1] = (offsets[row] ?? 0) + part.length;
      });
      return { column, nullCount, validity, offsets, values: Buffer.concat(parts) };
    }
    case 'bool': {
      const values = new Uint8Array((cells.length + 7) >> 3);
      cells.forEach((cell, row) => {
        if (cell === true) setBit(values, row);
      });
      return { column, nullCount, validity, offsets: undefined, values };
    }
    default: {
      const width = physical === 'int32' ? 4 : physical === 'int64' ? 8 : 16;
      const values = new Uint8Array(cells.length * width + 5).fill(0xee);
      const view = new DataView(values.buffer);
      cells.forEach((cell, row) => {
        if (cell === null) return;
        const bits = BigInt.asUintN(width * 8, cell as bigint);
        for (let word = 0; word * 4 < width; word++) {
          view.setUint32(row * width + word * 4, Number((bits >> BigInt(word * 32)) & 0xffffffffn), true);
        }
      });
      return { column, nullCount, validity, offsets: undefined, values };
    }
  }
}

function setBit(bits: Uint8Array, at: number): void {
  bits[at >> 3] = (bits[at >> 3] ?? 0) | (1 << (at & 7));
}

/** Any value of a column, edges included; null where the column allows it. */
export function anyValue(column: ColumnDef): fc.Arbitrary<Value> {
  const kind = kinds[column.kind];
  const least = 'min' in kind ? kind.min : undefined;
  const most = 'max' in kind ? kind.max : undefined;
  const value = ((): fc.Arbitrary<Value> => {
    switch (kind.physical) {
      case 'utf8':
        return fc.oneof(
          fc.constantFrom('', '\0', 'a\0b', 'привет', '👍\u{10ffff}', 'x'.repeat(300)),
          fc.string({ unit: 'binary', maxLength: 20 }),
        );
      case 'binary':
        return fc.uint8Array({ maxLength: 130 });
      case 'bool':
        return fc.boolean();
      case 'int32':
        return kind.sql === 'DATE' ? integer(-700_000n, 2_900_000n) : integer(-(2n ** 31n), 2n ** 31n - 1n);
      case 'int64':
        if (kind.sql === 'TIMESTAMP') return integer(0n, 4294967295n * 1_000_000n);
        return integer(least ?? -(2n ** 63n), most ?? 2n ** 63n - 1n);
      case 'decimal128':
        return integer(least ?? 0n, most ?? 0n);
    }
  })();
  return column.nullable ? fc.option(value, { freq: 3 }) : value;
}

function integer(min: bigint, max: bigint): fc.Arbitrary<bigint> {
  return fc.oneof(fc.constantFrom(min, max, min + 1n, max - 1n), fc.bigInt({ min, max }));
}

/** A value that DuckDB gave back, in the form of {@link Value}. */
export function readBack(value: unknown): Value {
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || typeof value === 'bigint')
    return value;
  if (typeof value === 'number') return BigInt(value);
  if (value instanceof Uint8Array) return Buffer.from(value);
  if (typeof value === 'object' && 'bytes' in value) return Buffer.from(value.bytes as Uint8Array);
  if (typeof value === 'object' && 'days' in value) return BigInt(value.days as number);
  if (typeof value === 'object' && 'micros' in value) return value.micros as bigint;
  if (typeof value === 'object' && 'value' in value) return value.value as bigint;
  throw new Error(`no value of a table: ${String(value)}`);
}

/** Bytes as Buffers, so that rows can be compared. */
export function comparable(rows: readonly (readonly Value[])[]): Value[][] {
  return rows.map((row) => row.map((cell) => (cell instanceof Uint8Array ? Buffer.from(cell) : cell)));
}
