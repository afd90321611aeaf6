import { kinds } from '../../src/declare/kind.ts';
import type { PipelineDef } from '../../src/declare/pipeline.ts';
import type { Batch, Vector } from '../../src/decode/batch.ts';
import { Decoder } from '../../src/decode/decoder.ts';
import type { Cell } from '../../src/decode/read-cell.ts';
import type { ScannedPage } from '../../src/decode/scan-page.ts';
import type { Row } from '../../tools/object-decoder.ts';

/** The rows of a batch as objects; numbers as bigint, times in microseconds, dates in days. */
export function rowsOf(batch: Batch): Row[] {
  const rows = Array.from({ length: batch.rows }, (_, row) =>
    Object.fromEntries(batch.vectors.map((vector) => [vector.column.name, cellOf(vector, row)])),
  );
  for (const { column, nullCount } of batch.vectors) {
    const nulls = rows.filter((row) => row[column.name] === null).length;
    if (nulls !== nullCount) throw new Error(`${column.name} has ${nulls} nulls, and says ${nullCount}`);
  }
  return rows;
}

function cellOf(vector: Vector, row: number): Cell {
  if (((vector.validity[row >> 3] ?? 0) & (1 << (row & 7))) === 0) return null;
  const values = Buffer.from(vector.values.buffer, vector.values.byteOffset, vector.values.length);
  const slice = (): Buffer => values.subarray(vector.offsets?.[row], vector.offsets?.[row + 1]);
  switch (kinds[vector.column.kind].physical) {
    case 'utf8':
      return slice().toString();
    case 'binary':
      return new Uint8Array(slice());
    case 'bool':
      return ((values[row >> 3] ?? 0) & (1 << (row & 7))) !== 0;
    case 'int32':
      return BigInt(values.readInt32LE(4 * row));
    case 'int64':
      return values.readBigInt64LE(8 * row);
    case 'decimal128':
      return (values.readBigInt64LE(16 * row + 8) << 64n) + values.readBigUInt64LE(16 * row);
  }
}

export interface Reading extends ScannedPage {
  readonly tables: Readonly<Record<string, readonly Row[]>>;
}

/** What a fresh decoder makes of one page. */
export function read(pipeline: PipelineDef, page: string | Uint8Array): Reading {
  const decoder = new Decoder(pipeline);
  const scanned = decoder.decode(typeof page === 'string' ? Buffer.from(page) : page);
  return { ...scanned, tables: tablesOf(decoder) };
}

export function tablesOf(decoder: Decoder): Readonly<Record<string, readonly Row[]>> {
  return Object.fromEntries(decoder.batches().map((batch) => [batch.table.name, rowsOf(batch)]));
}
