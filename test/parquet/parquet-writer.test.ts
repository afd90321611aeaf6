import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import type { TableDef } from '../../src/declare/table.ts';
import { FileWriter } from '../../src/parquet/parquet-writer.ts';
import { decodeGroups, readFooter } from '../../src/parquet/read-footer.ts';
import { type Compress, loadZstd, openWasm } from '../../src/parquet/zstd.ts';
import { Database } from '../../src/sql/database.ts';
import { readFiles } from '../../src/warehouse/relations/table-relation.ts';
import { schemaOf } from '../../src/warehouse/relations/table-schema.ts';
import { freshFolder } from '../scratch.ts';
import { anyValue, comparable, makeBatch, readBack, type Value } from '../warehouse/batches.ts';
import { everything } from '../warehouse/tables.ts';
import { copied } from './copied.ts';

let files = 0;

const folder = freshFolder();
const database = await Database.open();
const zstd = (await loadZstd()).compress;

afterAll(() => database.close());

async function writeBatches(
  table: TableDef,
  batches: readonly (readonly (readonly Value[])[])[],
  compress?: Compress,
): Promise<string> {
  const path = join(folder, `${files++}.parquet`);
  const writer = new FileWriter(path, table, compress);
  for (const rows of batches) writer.write(makeBatch(table, rows));
  writer.finish();
  return path;
}

async function readRows(path: string, tail = ''): Promise<Value[][]> {
  const { rows } = await database.query(`SELECT * FROM ${readFiles([path])} ${tail}`);
  return rows.map((row) => row.map(readBack));
}

const anyRow = fc.tuple(...everything.columns.map(anyValue));

/** Rows of few values, in runs and at random, for dictionaries of every width. */
const repeatedRows = fc
  .tuple(fc.array(anyRow, { minLength: 1, maxLength: 300 }), fc.array(fc.tuple(fc.nat(), fc.nat({ max: 20 }))))
  .map(([rows, picks]) =>
    picks.flatMap(([at, times]) => Array.from({ length: times }, () => rows[at % rows.length] ?? [])),
  );

test('whatever the rows are, DuckDB reads back exactly what was written, row group after row group', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(anyRow, { maxLength: 40 }), { maxLength: 4 }), async (batches) => {
      const path = await writeBatches(everything, batches);
      expect(await readRows(path)).toEqual(comparable(batches.flat()));
    }),
    { numRuns: 60 },
  );
});

test('the same from dictionaries and compressed pages', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(repeatedRows, fc.array(anyRow)), { maxLength: 4 }), async (batches) => {
      const path = await writeBatches(everything, batches, zstd);
      expect(await readRows(path)).toEqual(comparable(batches.flat()));
    }),
    { numRuns: 60 },
  );
});

test('the same from row groups that were copied from other files, with their dictionaries', async () => {
  const lots = fc.array(fc.oneof(repeatedRows, fc.array(anyRow)), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(lots, async (all) => {
      fc.pre(all.flat().length > 0);
      const paths = await Promise.all(all.map((rows) => writeBatches(everything, [rows], zstd)));
      const path = copied(everything, paths);
      expect(await readRows(path)).toEqual(comparable(all.flat()));
      // Twice, so that a file of copied pages is a source as well.
      expect(await readRows(copied(everything, [path, ...paths]))).toEqual(comparable([...all.flat(), ...all.flat()]));
    }),
    { numRuns: 60 },
  );
});

test('a dictionary that has no space for the entries of another becomes values', async () => {
  const [row = []] = fc.sample(anyRow, { numRuns: 1, seed: 3 });
  const name = everything.columns.findIndex((column) => column.name === 'name');
  const lots = [0, 1, 2, 3].map((lot) =>
    Array.from({ length: 900 }, (_, at) => row.with(name, `${lot}-${at % 300} `.padEnd(2400, 'long'))),
  );
  const paths = await Promise.all(lots.map((rows) => writeBatches(everything, [rows], zstd)));
  const path = copied(everything, paths);
  expect(await readRows(path)).toEqual(comparable(lots.flat()));
  const { rows } = await database.query(
    `SELECT encodings FROM parquet_metadata('${path}') WHERE path_in_schema = 'name'`,
  );
  expect(rows.flat().map(String)).toEqual(['RLE, RLE_DICTIONARY, PLAIN']);
});

test('files of other columns or writers are not copied', async () => {
  const rows = fc.sample(anyRow, { numRuns: 20, seed: 5 });
  const path = await writeBatches(everything, [rows], zstd);
  const other = join(folder, `${files++}.parquet`);
  await database.run(`COPY (FROM ${readFiles([path])}) TO '${other}' (FORMAT parquet, COMPRESSION zstd)`);
  const columns = everything.columns;
  expect(readFooter(readFileSync(path), columns)).toHaveLength(1);
  expect(readFooter(readFileSync(other), columns)).toBe(undefined);
  expect(readFooter(readFileSync(path), columns.toReversed())).toBe(undefined);
  expect(readFooter(readFileSync(await writeBatches(everything, [rows])), columns)).toBe(undefined);
});

test('rows that DuckDB wrote without compression are decoded, nulls and dictionaries included', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(repeatedRows, fc.array(anyRow)), async (rows) => {
      const path = await writeBatches(everything, [rows], zstd);
      const plain = join(folder, `${files++}.parquet`);
      for (const options of ['DICTIONARY_SIZE_LIMIT 1, ROW_GROUP_SIZE 2048', 'ROW_GROUP_SIZE 2048']) {
        await database.run(
          `COPY (FROM ${readFiles([path])}) TO '${plain}' (FORMAT parquet, COMPRESSION uncompressed, ${options})`,
        );
        const again = join(folder, `${files++}.parquet`);
        const writer = new FileWriter(again, everything, zstd);
        for (const batch of decodeGroups(readFileSync(plain), everything, everything.columns)) writer.write(batch);
        writer.finish();
        expect(await readRows(again)).toEqual(comparable(rows));
      }
    }),
    { numRuns: 30 },
  );
});

test('pages compressed by WebAssembly are those of any zstd', async () => {
  const rows = fc.sample(anyRow, { numRuns: 500, seed: 5 });
  const path = await writeBatches(everything, [rows], (await openWasm()).compress);
  expect(await readRows(path)).toEqual(comparable(rows));
});

test('statistics never hide a row from a filter', async () => {
  const groups = fc.sample(fc.array(anyRow, { minLength: 1, maxLength: 6 }), { numRuns: 200, seed: 11 });
  const path = await writeBatches(everything, groups, zstd);
  await database.run(`CREATE OR REPLACE TABLE everything AS FROM ${readFiles([path])}`);
  const values = groups.flat().slice(0, 60);
  for (const [at, { name }] of everything.columns.entries()) {
    for (const operator of ['=', '<', '>', '>=', '<=']) {
      const count = (source: string) =>
        `(SELECT list(n ORDER BY v) FROM (SELECT v, (SELECT count(*) FROM ${source} AS r WHERE r."${name}" ${operator} v) AS n
          FROM (SELECT DISTINCT "${name}" AS v FROM everything WHERE id IN (${values.map(([id]) => String(id)).join(', ')}))))`;
      const { rows } = await database.query(
        `SELECT ${count(readFiles([path]))} IS NOT DISTINCT FROM ${count('everything')}`,
      );
      expect([name, operator, rows[0]?.[0], at]).toEqual([name, operator, true, at]);
    }
  }
});

test('statistics tell the least and the greatest value of numbers, times and texts', async () => {
  const rows = fc.sample(anyRow, { numRuns: 400, seed: 2 });
  const path = await writeBatches(everything, [rows], zstd);
  const { rows: found } = await database.query(
    `SELECT path_in_schema, stats_min_value, stats_max_value, stats_null_count FROM parquet_metadata('${path}')`,
  );
  for (const [name, min, max, nulls] of found) {
    const column = `"${String(name)}"`;
    const { rows: own } = await database.query(
      `SELECT min(${column})::VARCHAR, max(${column})::VARCHAR, count(*) FILTER (${column} IS NULL) FROM ${readFiles([path])}`,
    );
    expect([name, nulls]).toEqual([name, own[0]?.[2]]);
    const isTold = min !== null;
    const isShort = String(own[0]?.[0]).length <= 256 && String(own[0]?.[1]).length <= 256;
    expect([name, isTold]).toEqual([name, isShort]);
    if (isTold && !['body', 'init', 'name', 'label'].includes(String(name))) {
      expect([name, min, max]).toEqual([name, own[0]?.[0], own[0]?.[1]]);
    }
  }
});

test('columns whose values repeat have a dictionary, others have none', async () => {
  const row = fc.sample(anyRow, { numRuns: 1, seed: 3 })[0] ?? [];
  const rows = Array.from({ length: 3000 }, (_, at) => [BigInt(at), ...row.slice(1)]);
  const path = await writeBatches(everything, [rows], zstd);
  const { rows: found } = await database.query(
    `SELECT path_in_schema, dictionary_page_offset IS NOT NULL, compression FROM parquet_metadata('${path}')`,
  );
  const names = (has: boolean) => found.filter(([, own]) => own === has).map(([name]) => name);
  const nulls = everything.columns.filter((_, at) => row[at] === null).map(({ name }) => name);
  expect(names(false)).toEqual(
    everything.columns.map(({ name }) => name).filter((name) => ['id', 'flag', 'maybe', ...nulls].includes(name)),
  );
  expect(new Set(found.map(([, , codec]) => codec))).toEqual(new Set(['ZSTD']));
});

test('files for readers have no encoding that some of them read wrongly', async () => {
  const rows = fc
    .sample(anyRow, { numRuns: 1000, seed: 4 })
    .map((row, at) => row.map((value, column) => (everything.columns[column]?.name === 'name' ? `name ${at}` : value)));
  const path = await writeBatches(everything, [rows], zstd);
  const { rows: found } = await database.query(`SELECT encodings FROM parquet_metadata('${path}')`);
  const encodings = new Set(found.flatMap(([names]) => String(names).split(', ')));
  expect([...encodings].sort()).toEqual(['PLAIN', 'RLE', 'RLE_DICTIONARY']);
  expect(await readRows(path)).toEqual(comparable(rows));
});

test('lengths of every size survive', async () => {
  const name = everything.columns.findIndex((column) => column.name === 'name');
  const [row = []] = fc.sample(anyRow, { numRuns: 1, seed: 3 });
  const sizes = [0, 1, 20_000_000, 3, 5, 70_000, 0, 0, 128, ...Array.from({ length: 300 }, (_, at) => (at * at) % 700)];
  const rows = sizes.map((size) => row.map((value, column) => (column === name ? 'x'.repeat(size) : value)));
  const path = await writeBatches(everything, [rows]);
  const { rows: found } = await database.query(`SELECT length("name") FROM ${readFiles([path])}`);
  expect(found.map(([size]) => Number(size))).toEqual(sizes);
});

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

test('texts, days and decimals have both their types, for readers that know only one', async () => {
  const path = await writeBatches(everything, [fc.sample(anyRow, 1)]);
  const types = `SELECT DISTINCT converted_type, logical_type FROM parquet_schema('${path}')`;
  const { rows } = await database.query(`${types} WHERE converted_type IS NOT NULL ORDER BY ALL`);
  expect(rows).toEqual([
    ['DATE', 'DateType()'],
    ['DECIMAL', 'DecimalType(scale=0, precision=20)'],
    ['DECIMAL', 'DecimalType(scale=0, precision=38)'],
    ['UTF8', 'StringType()'],
  ]);
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
