import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  Binary,
  Bool,
  type Data,
  type DataType,
  DateDay,
  Decimal,
  Field,
  Float64,
  Int32,
  Int64,
  makeData,
  RecordBatch,
  RecordBatchFileWriter,
  Schema,
  Struct,
  TimestampMicrosecond,
  Utf8,
} from 'apache-arrow';
import { quoteName } from '../sql/canonical-text.ts';
import { duckdbApi } from '../sql/duckdb-api.ts';
import type { CellNotes } from './cell-notes.ts';
import { type ClassedType, type ColumnClass, countedValue, isInfinite } from './column-class.ts';
import type { ExportedColumn, ExportedRows } from './exported-rows.ts';

/** Writes rows to an Arrow IPC file, with a record batch per chunk of about 2,000 rows. @returns the number of rows */
export async function writeArrow(
  { columns, read }: Pick<ExportedRows, 'columns' | 'read'>,
  path: string,
  notes: CellNotes,
): Promise<number> {
  const schema = new Schema(columns.map(({ name, classed }) => new Field(name, arrowType(classed), true)));
  let count = 0;
  const expressions = columns.map((column) => `${countedValue(column)} AS ${quoteName(column.name)}`);
  const write = async (batches: AsyncIterable<RecordBatch>): Promise<void> => {
    const encoder = RecordBatchFileWriter.throughNode({ autoDestroy: true, objectMode: true });
    await pipeline(Readable.from(batches), encoder, createWriteStream(path, { flags: 'wx' }));
  };
  await read(
    undefined,
    (rows) =>
      write(
        (async function* () {
          for await (const chunk of rows.chunks()) {
            count += chunk.length;
            yield batchOf(schema, columns, chunk, notes);
          }
          // The schema is written with the first batch.
          if (count === 0) yield batchOf(schema, columns, [], notes);
        })(),
      ),
    expressions,
  );
  return count;
}

const TYPES: Readonly<Record<Exclude<ColumnClass, 'decimal'>, DataType>> = {
  boolean: new Bool(),
  int32: new Int32(),
  int64: new Int64(),
  double: new Float64(),
  text: new Utf8(),
  json: new Utf8(),
  bytes: new Binary(),
  date: new DateDay(),
  timestamp: new TimestampMicrosecond(),
};

/** The Arrow type of a class. */
export function arrowType({ class: kind, precision = 38, scale = 0 }: ClassedType): DataType {
  return kind === 'decimal' ? new Decimal(scale, precision, 128) : TYPES[kind];
}

type Rows = readonly (readonly unknown[])[];

function batchOf(schema: Schema, columns: readonly ExportedColumn[], rows: Rows, notes: CellNotes): RecordBatch {
  const children = columns.map((column, at) =>
    dataOf(
      arrowType(column.classed),
      rows.map((row) => finiteOf(column, row[at], notes)),
    ),
  );
  return new RecordBatch(
    schema,
    makeData({ type: new Struct(schema.fields), length: rows.length, nullCount: 0, children }),
  );
}

/** Arrow has no infinite dates and times. */
function finiteOf({ name, classed }: ExportedColumn, value: unknown, notes: CellNotes): unknown {
  if (!isInfinite(classed, value)) return value;
  notes.add('an infinite date or time, which Arrow does not have, is null', name);
  return null;
}

function dataOf(type: DataType, values: readonly unknown[]): Data {
  const { length } = values;
  const nullBitmap = bitmapOf(values, (value) => value !== null);
  const shared = { length, nullCount: values.filter((value) => value === null).length, nullBitmap };
  if (type instanceof Utf8 || type instanceof Binary) {
    const parts = values.map(bytesOf);
    const valueOffsets = new Int32Array(length + 1);
    for (const [at, part] of parts.entries()) valueOffsets[at + 1] = (valueOffsets[at] ?? 0) + part.length;
    return makeData({ type: type as Utf8, ...shared, valueOffsets, data: Buffer.concat(parts) });
  }
  if (type instanceof Bool) return makeData({ type, ...shared, data: bitmapOf(values, (value) => value === true) });
  if (type instanceof Decimal) return makeData({ type, ...shared, data: decimalWords(values) });
  if (type instanceof Float64)
    return makeData({ type, ...shared, data: Float64Array.from(values, (value) => Number(value ?? 0)) });
  if (type instanceof Int32 || type instanceof DateDay)
    return makeData({ type: type as Int32, ...shared, data: Int32Array.from(values, (value) => Number(value ?? 0)) });
  const data = BigInt64Array.from(values, (value) => (typeof value === 'bigint' ? value : 0n));
  return makeData({ type: type as Int64, ...shared, data });
}

function bytesOf(value: unknown): Uint8Array {
  if (value === null) return new Uint8Array();
  return value instanceof duckdbApi().DuckDBBlobValue ? value.bytes : Buffer.from(String(value));
}

function bitmapOf(values: readonly unknown[], isSet: (value: unknown) => boolean): Uint8Array {
  const bits = new Uint8Array(Math.ceil(values.length / 8));
  for (const [at, value] of values.entries()) if (isSet(value)) bits[at >> 3] = (bits[at >> 3] ?? 0) | (1 << (at & 7));
  return bits;
}

/** 128-bit little-endian integers. */
function decimalWords(values: readonly unknown[]): Uint32Array {
  const words = new BigUint64Array(values.length * 2);
  const { DuckDBDecimalValue } = duckdbApi();
  for (const [at, value] of values.entries()) {
    if (!(value instanceof DuckDBDecimalValue)) continue;
    words[2 * at] = BigInt.asUintN(64, value.value);
    words[2 * at + 1] = BigInt.asUintN(64, value.value >> 64n);
  }
  return new Uint32Array(words.buffer);
}
