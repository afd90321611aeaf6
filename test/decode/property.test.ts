import { type RecordBatch, Table, tableFromIPC, tableToIPC } from 'apache-arrow';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import blocks from '../../pipelines/blocks.ts';
import transactions from '../../pipelines/transactions.ts';
import { kinds } from '../../src/declare/kind.ts';
import type { PipelineDef } from '../../src/declare/pipeline.ts';
import { arrowSchema, toRecordBatch } from '../../src/decode/arrow.ts';
import type { Batch } from '../../src/decode/batch.ts';
import { Decoder } from '../../src/decode/decoder.ts';
import { quarantineTable } from '../../src/decode/quarantine-table.ts';
import { type Cell, parseExact } from '../../src/decode/read-cell.ts';
import { type Row, rowsOfPage } from '../../tools/object-decoder.ts';
import { pageTexts } from './arbitrary.ts';
import { comparable, jsonColumns } from './comparable.ts';
import { read, rowsOf, tablesOf } from './reading.ts';
import { things } from './things.ts';

/** Rows of one record come in the order in which its fields were sent, which the object decoder does not know. */
function inOneOrder(tables: Readonly<Record<string, readonly Row[]>>): Record<string, unknown[]> {
  const text = (row: unknown) =>
    JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value));
  const sorted = Object.entries(comparable(tables)).map(([name, rows]) => [
    name,
    rows.sort((a, b) => (text(a) < text(b) ? -1 : 1)),
  ]);
  return Object.fromEntries(sorted) as Record<string, unknown[]>;
}

describe.each([things, blocks, transactions])('generated records of $name', (pipeline: PipelineDef) => {
  const seed = 20260501;

  it('are compared with their JSON columns as values', () => {
    expect(jsonColumns(pipeline)).toEqual([]);
  });

  it('read as the object decoder reads them, whatever the key order, the spelling and the blanks', () => {
    fc.assert(
      fc.property(pageTexts(pipeline), (page) => {
        const { tables, refused, unknown } = read(pipeline, page);
        expect(refused).toEqual([]);
        expect([...unknown]).toEqual([]);
        expect(inOneOrder(tables)).toEqual(inOneOrder(rowsOfPage(pipeline, parseExact(page))));
      }),
      // `things` has every kind of column; the others have nested records besides.
      { numRuns: pipeline === things ? 300 : 100, seed },
    );
  });

  it('are rolled back to a mark as if they had never come, and cleared as if by a fresh decoder', () => {
    const decoder = new Decoder(pipeline);
    fc.assert(
      fc.property(pageTexts(pipeline), pageTexts(pipeline), (first, second) => {
        decoder.clear();
        decoder.decode(Buffer.from(first));
        const mark = decoder.mark();
        const before = tablesOf(decoder);
        decoder.decode(Buffer.from(second));
        const both = tablesOf(decoder);
        decoder.rollback(mark);
        expect(tablesOf(decoder)).toEqual(before);
        expect(decoder.mark()).toEqual(mark);
        decoder.decode(Buffer.from(second));
        expect(tablesOf(decoder)).toEqual(both);
        decoder.clear();
        expect(decoder.records).toBe(0);
        decoder.decode(Buffer.from(second));
        expect(tablesOf(decoder)).toEqual(read(pipeline, second).tables);
        for (const [name, rows] of Object.entries(both)) {
          expect(rows).toEqual([...(before[name] ?? []), ...(tablesOf(decoder)[name] ?? [])]);
        }
      }),
      { numRuns: 100, seed },
    );
  });

  it('become Arrow batches that other readers see the same values in', () => {
    fc.assert(
      fc.property(pageTexts(pipeline), (page) => {
        const decoder = new Decoder(pipeline);
        decoder.decode(Buffer.from(page));
        for (const batch of decoder.batches()) {
          expect(arrowRows(batch, toRecordBatch(batch))).toEqual(rowsOf(batch));
        }
      }),
      { numRuns: 100, seed },
    );
  });
});

describe('many rows', () => {
  it('grow the columns, with nulls in between, and survive the next page as Arrow batches', () => {
    const records = Array.from({ length: 5000 }, (_, i) =>
      i % 3 === 0 ? {} : { id: i, text: `row ${i}`, bool: i % 2 === 0, int64: `${i}` },
    );
    const page = Buffer.from(JSON.stringify({ things: records }));
    const decoder = new Decoder(things);
    decoder.decode(page);
    const [batch] = decoder.batches();
    const arrow = toRecordBatch(batch as Batch);
    const rows = rowsOf(batch as Batch);
    expect(rows).toMatchObject(
      records.map((_, i) =>
        i % 3 === 0
          ? { id: null, text: null, bool: null }
          : { id: BigInt(i), text: `row ${i}`, bool: i % 2 === 0, int64: BigInt(i) },
      ),
    );
    expect(batch?.vectors.map(({ nullCount }) => nullCount).slice(0, 2)).toEqual([1667, 1667]);
    decoder.clear();
    decoder.decode(Buffer.from(JSON.stringify({ things: records.map(() => ({ text: 'other' })) })));
    expect(arrowRows(batch as Batch, arrow)).toEqual(rows);
  });

  it('byteSize grows with the rows and is nothing without', () => {
    const decoder = new Decoder(things);
    expect(decoder.byteSize).toBe(0);
    decoder.decode(Buffer.from(`{"things":[{"text":"${'x'.repeat(1000)}"}]}`));
    expect(decoder.byteSize).toBeGreaterThan(1000);
    decoder.clear();
    expect(decoder.byteSize).toBe(0);
  });
});

it('the Arrow schema names every column with its type', () => {
  const types = arrowSchema(quarantineTable).fields.map(
    (field) => `${field.name} ${field.type}${field.nullable ? ' or null' : ''}`,
  );
  expect(types).toEqual([
    'pipeline Utf8',
    'mc_block_seqno Int32',
    'request Utf8',
    'pointer Utf8',
    'reason Utf8',
    'raw Utf8',
    'utime Int64 or null',
    'found_at Int64',
    'found_date Date32<DAY>',
    'block_time Timestamp<MICROSECOND> or null',
    'block_date Date32<DAY> or null',
    '_extra Utf8 or null',
  ]);
});

/** Rows as another Arrow reader sees them, after a way through Arrow's IPC format. */
function arrowRows(batch: Batch, record: RecordBatch): Row[] {
  const table = tableFromIPC(tableToIPC(new Table([record])));
  return Array.from({ length: batch.rows }, (_, row) =>
    Object.fromEntries(
      batch.table.columns.map(({ name, kind }) => [
        name,
        arrowCell(kinds[kind], table.getChild(name)?.get(row) as unknown),
      ]),
    ),
  );
}

function arrowCell({ name, physical }: (typeof kinds)[keyof typeof kinds], value: unknown): Cell {
  if (value === null || value === undefined) return null;
  if (name === 'timestamp') return BigInt(value as number) * 1000n;
  if (name === 'date') return BigInt(value as number) / 86_400_000n;
  if (physical === 'int32') return BigInt(value as number);
  if (physical === 'decimal128') {
    const words = [...(value as Uint32Array)];
    return BigInt.asIntN(
      128,
      words.reduceRight((sum, word) => (sum << 32n) | BigInt(word), 0n),
    );
  }
  return physical === 'binary' ? new Uint8Array(value as Uint8Array) : (value as string | bigint | boolean);
}
