import {
  Binary,
  Bool,
  type DataType,
  DateDay,
  Decimal,
  Field,
  Int32,
  Int64,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  TimestampMicrosecond,
  Utf8,
} from 'apache-arrow';
import type { ColumnDef } from '../declare/column.ts';
import { kinds } from '../declare/kind.ts';
import type { TableDef } from '../declare/table.ts';
import type { Batch, Vector } from './batch.ts';

/** The Arrow schema of a table. */
export function arrowSchema(table: TableDef): Schema {
  return new Schema(table.columns.map((def) => new Field(def.name, arrowType(def), def.nullable)));
}

function arrowType(def: ColumnDef): DataType {
  const kind = kinds[def.kind];
  if (kind.name === 'timestamp') return new TimestampMicrosecond();
  if (kind.name === 'date') return new DateDay();
  switch (kind.physical) {
    case 'utf8':
      return new Utf8();
    case 'binary':
      return new Binary();
    case 'bool':
      return new Bool();
    case 'int32':
      return new Int32();
    case 'int64':
      return new Int64();
    case 'decimal128':
      return new Decimal(0, kind.sql === 'DECIMAL(20,0)' ? 20 : 38, 128);
  }
}

/** An Arrow record batch with its own memory. */
export function toRecordBatch(batch: Batch): RecordBatch {
  const schema = arrowSchema(batch.table);
  const children = batch.vectors.map((vector) => dataOf(vector, batch.rows));
  return new RecordBatch(
    schema,
    makeData({ type: new Struct(schema.fields), length: batch.rows, nullCount: 0, children }),
  );
}

function dataOf(vector: Vector, length: number) {
  const type = arrowType(vector.column);
  const nullBitmap = vector.nullCount === 0 ? undefined : vector.validity.slice();
  const shared = { length, nullCount: vector.nullCount, ...(nullBitmap === undefined ? {} : { nullBitmap }) };
  // `slice` of a Buffer is only a view.
  const bytes = new Uint8Array(vector.values);
  if (vector.offsets !== undefined) {
    const valueOffsets = vector.offsets.slice();
    return type instanceof Binary
      ? makeData({ type, ...shared, valueOffsets, data: bytes })
      : makeData({ type: type as Utf8, ...shared, valueOffsets, data: bytes });
  }
  const { buffer } = bytes;
  if (type instanceof Bool) return makeData({ type, ...shared, data: bytes });
  if (type instanceof Int32 || type instanceof DateDay)
    return makeData({ type: type as Int32, ...shared, data: new Int32Array(buffer) });
  if (type instanceof Decimal) return makeData({ type, ...shared, data: new Uint32Array(buffer) });
  return makeData({ type: type as Int64, ...shared, data: new BigInt64Array(buffer) });
}
