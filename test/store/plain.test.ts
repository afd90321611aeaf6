import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TableDef } from '../../src/declare/table.ts';
import { Database } from '../../src/store/database.ts';
import { PlainWriter } from '../../src/store/plain.ts';
import { readFiles } from '../../src/store/relation.ts';
import { schemaOf } from '../../src/store/schema.ts';
import { anyValue, comparable, makeBatch, readBack, type Value } from './batches.ts';
import { everything } from './tables.ts';

let folder: string;
let database: Database;
let files = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tonlake-plain-'));
  database = await Database.open();
});

afterAll(async () => {
  database.close();
  await rm(folder, { recursive: true });
});

async function writeBatches(table: TableDef, batches: readonly (readonly (readonly Value[])[])[]): Promise<string> {
  const path = join(folder, `${files++}.parquet`);
  const writer = new PlainWriter(path, table);
  for (const rows of batches) writer.write(makeBatch(table, rows));
  writer.finish();
  return path;
}

async function readRows(path: string, tail = ''): Promise<Value[][]> {
  const { rows } = await database.query(`SELECT * FROM ${readFiles([path])} ${tail}`);
  return rows.map((row) => row.map(readBack));
}

const anyRow = fc.tuple(...everything.columns.map(anyValue));

test('whatever the rows are, DuckDB reads back exactly what was written, row group after row group', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(anyRow, { maxLength: 40 }), { maxLength: 4 }), async (batches) => {
      const path = await writeBatches(everything, batches);
      expect(await readRows(path)).toEqual(comparable(batches.flat()));
    }),
    { numRuns: 60 },
  );
}, 60_000);

test('values survive the sorted transcoding to compressed Parquet', async () => {
  const rows = fc.sample(anyRow, { numRuns: 3000, seed: 7 }).map((row, at) => [BigInt(at), ...row.slice(1)]);
  const path = await writeBatches(everything, [rows.toReversed()]);
  const sorted = join(folder, 'sorted.parquet');
  await database.run(
    `COPY (SELECT * FROM ${readFiles([path])} ORDER BY id) TO '${sorted}' (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)`,
  );
  expect(await readRows(sorted)).toEqual(comparable(rows));
});

test('the columns have the declared types', async () => {
  const path = await writeBatches(everything, [fc.sample(anyRow, 1)]);
  const { rows } = await database.query(`DESCRIBE SELECT * FROM ${readFiles([path])}`);
  expect(rows.map(([name, type]) => ({ name, type }))).toEqual(schemaOf(everything).columns);
});

test('a timestamp is without zone for every reader', async () => {
  const path = await writeBatches(everything, [fc.sample(anyRow, 1)]);
  const { rows } = await database.query(`SELECT logical_type FROM parquet_schema('${path}') WHERE name = 'block_time'`);
  expect(String(rows[0]?.[0])).toMatch(/isAdjustedToUTC=0.*MICROS/);
});

test('a file without rows has the columns all the same', async () => {
  const path = await writeBatches(everything, [[]]);
  const { rows } = await database.query(`DESCRIBE SELECT * FROM ${readFiles([path])}`);
  expect(rows.length).toBe(everything.columns.length);
  expect(await readRows(path)).toEqual([]);
});

test('a batch of more rows than a vector of DuckDB, with columns that are all null', async () => {
  const row = fc.sample(anyRow, { numRuns: 1, seed: 3 })[0] ?? [];
  const rows = Array.from({ length: 20_001 }, (_, at) =>
    everything.columns.map(({ nullable }, column) =>
      nullable ? null : column === 0 ? BigInt(at) : (row[column] ?? null),
    ),
  );
  const path = await writeBatches(everything, [rows, rows.slice(0, 3)]);
  expect(await readRows(path)).toEqual(comparable([...rows, ...rows.slice(0, 3)]));
});
