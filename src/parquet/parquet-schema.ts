import type { ColumnDef } from '../declare/column.ts';
import { kinds, type Physical } from '../declare/kind.ts';
import { out } from './thrift.ts';

const OPTIONAL = 1;
/** Fields of SchemaElement in parquet.thrift: the old and the new form of a logical type. */
const CONVERTED_TYPE = 6;
const LOGICAL_TYPE = 10;

/** BOOLEAN 0, INT32 1, INT64 2, BYTE_ARRAY 6, FIXED_LEN_BYTE_ARRAY 7. */
const types: Readonly<Record<Physical, number>> = { bool: 0, int32: 1, int64: 2, utf8: 6, binary: 6, decimal128: 7 };

/** Physical type of a column in Parquet. */
export function parquetType({ kind }: ColumnDef): number {
  return types[kinds[kind].physical];
}

/** Writes a column as an element of the schema. */
export function encodeColumn(column: ColumnDef): void {
  const { physical, sql } = kinds[column.kind];
  out.begin();
  out.i32(1, parquetType(column));
  if (physical === 'decimal128') out.i32(2, 16);
  out.i32(3, OPTIONAL);
  out.text(4, column.name);
  if (physical === 'utf8') encodeSimple(0, 1);
  else if (physical === 'decimal128') encodeDecimal(Number(/^DECIMAL\((\d+),0\)$/.exec(sql)?.[1] ?? 38));
  else if (sql === 'DATE') encodeSimple(6, 6);
  else if (sql === 'TIMESTAMP') encodeTimestamp();
  out.end();
}

function encodeSimple(converted: number, logical: number): void {
  out.i32(CONVERTED_TYPE, converted);
  out.begin(LOGICAL_TYPE);
  out.empty(logical);
  out.end();
}

function encodeDecimal(precision: number): void {
  out.i32(CONVERTED_TYPE, 5);
  out.i32(7, 0);
  out.i32(8, precision);
  out.begin(LOGICAL_TYPE);
  out.begin(5);
  out.i32(1, 0);
  out.i32(2, precision);
  out.end();
  out.end();
}

/** Microseconds, not adjusted to UTC. No converted type: the old TIMESTAMP_MICROS would mean "adjusted to UTC". */
function encodeTimestamp(): void {
  out.begin(LOGICAL_TYPE);
  out.begin(8);
  out.bool(1, false);
  out.begin(2);
  out.empty(2);
  out.end();
  out.end();
  out.end();
}
