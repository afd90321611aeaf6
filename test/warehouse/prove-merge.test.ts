import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { sha256Of } from '../../src/core/sha256.ts';
import { FileWriter } from '../../src/parquet/parquet-writer.ts';
import { loadZstd } from '../../src/parquet/zstd.ts';
import { Database } from '../../src/sql/database.ts';
import { proveMerge } from '../../src/warehouse/compaction/prove-merge.ts';
import { stageMerge } from '../../src/warehouse/compaction/stage-merge.ts';
import { storedColumns } from '../../src/warehouse/file-layout.ts';
import { stagedRows } from '../../src/warehouse/relations/table-relation.ts';
import { schemaOf } from '../../src/warehouse/relations/table-schema.ts';
import { boundedColumns, measureRows } from '../../src/warehouse/staging/row-evidence.ts';
import type { LedgerEntry, TableEntry } from '../../src/warehouse/store.ts';
import { copied } from '../parquet/copied.ts';
import { type Fields, list, number, readParquet } from '../parquet/thrift-reader.ts';
import { freshFolder } from '../scratch.ts';
import { makeBatchOf } from './batches.ts';
import { itemRows, items } from './tables.ts';

const warehouse = freshFolder();
const database = await Database.open();
const { compress: zstd } = await loadZstd();
const stored = { ...items, columns: items.columns.filter(({ name }) => storedColumns(items).includes(name)) };
const place = 'tables/items/block_date=2026-05-01';
const [A, B, C] = [write('a', 0, 99), write('b', 100, 199), write('c', 200, 299)];

afterAll(() => database.close());

function write(name: string, from: number, to: number, change = (row: object) => row, folder = place) {
  const path = `${folder}/${name}.parquet`;
  mkdirSync(dirname(join(warehouse, path)), { recursive: true });
  const writer = new FileWriter(join(warehouse, path), items, zstd, storedColumns(items));
  writer.write(makeBatchOf(items, itemRows(from, to).map(change) as ReturnType<typeof itemRows>), true);
  writer.finish();
  const bytes = readFileSync(join(warehouse, path));
  return { path, rows: to - from + 1, bytes: bytes.length, bounds: {}, sha256: sha256Of(bytes) };
}

type Source = ReturnType<typeof write>;

async function prove(stagedPath: string, sources: readonly Source[]) {
  const span = { from: 0, to: 299 };
  const merged = { place, stagedPath, sources };
  const { rows, bounds } = await proveMerge({ query: database.query, warehouse, table: items, span, merged });
  expect(rows).toBe(sources.reduce((sum, each) => sum + each.rows, 0));
  expect(Object.keys(bounds)).toEqual(boundedColumns(items));
}

const merge = (sources: readonly Source[]) =>
  copied(
    stored,
    sources.map(({ path }) => join(warehouse, path)),
  );

describe('a merge is', () => {
  test('accepted if the rows are those of its sources', async () => {
    await prove(merge([A, B, C]), [A, B, C]);
  });

  const lies: Readonly<Record<string, () => Promise<void>>> = {
    'a row group is left out': () => prove(merge([A, C]), [A, B, C]),
    'a row group is there twice': () => prove(merge([A, A, B]), [A, B]),
    'a row group is that of another file': () => prove(merge([A, C]), [A, B]),
    'a value outside of the key is another one': () => {
      const other = write('other', 100, 199, (row) => ({ ...row, comment: 'another' }));
      return prove(merge([A, other]), [A, B]);
    },
    'pages of a column outside of the key changed places': () => prove(swapPages(merge([A, B]), 'fees'), [A, B]),
  };

  test.each(Object.entries(lies))('refused if %s', async (_, lie) => {
    await expect(lie()).rejects.toMatchObject({ code: 'not-the-same' });
  });

  test('refused if the files do not have all rows of the entries', async () => {
    const [evidence] = await measureRows(database.query, items, stagedRows(items, [join(warehouse, A.path)]));
    const stage = (rows: number) => {
      const own = { ...evidence, rows, schema: schemaOf(items).id, files: [A] } as TableEntry;
      const entry = { id: 'a', number: 1, tables: { items: own } } as unknown as LedgerEntry;
      const span = { from: 0, to: 99 };
      const work = { id: 'm', folder: freshFolder(), span, entries: [entry], tables: [items] };
      return stageMerge(work, async () => warehouse);
    };
    // A file that is alone in its folder stays as it is.
    expect(await stage(100)).toMatchObject({ items: { rows: 100, files: [], reused: [{ path: A.path }] } });
    await expect(stage(101)).rejects.toMatchObject({ code: 'not-the-same' });
  });

  test('refused if the files of a table move while those of the next one are merged, and the process goes on', async () => {
    const others = { ...items, name: 'others' };
    const own = (files: readonly Source[]): TableEntry =>
      ({ rows: 200, schema: schemaOf(items).id, files }) as unknown as TableEntry;
    const [E, F] = [0, 100].map((at) => write(`o${at}`, at, at + 99, undefined, 'tables/others')) as [Source, Source];
    const tables = { items: own([A, B]), others: own([E, F]) };
    const entry = { id: 'a', number: 1, tables } as unknown as LedgerEntry;
    const span = { from: 0, to: 199 };
    const work = { id: 'm', folder: freshFolder(), span, entries: [entry], tables: [items, others] };
    const looked: string[] = [];
    const staged = stageMerge(work, async ([file]) => {
      const path = file?.path ?? '';
      looked.push(path);
      if (path === E.path) await delay(100);
      if (looked.filter((each) => each === A.path).length > 1 && path === A.path) throw new Error('has moved');
      return warehouse;
    });
    const unhandled: unknown[] = [];
    const note = (error: unknown): number => unhandled.push(error);
    process.on('unhandledRejection', note);
    onTestFinished(() => void process.off('unhandledRejection', note));
    await expect(staged).rejects.toThrow('has moved');
    expect(unhandled).toEqual([]);
    // Once to merge, once to prove.
    expect(looked.sort()).toEqual([A.path, A.path, E.path, E.path]);
  });
});

/** Exchanges the first two pages of a column; they must be equally long. */
function swapPages(path: string, name: string): string {
  const { bytes, chunks } = readParquet(path);
  const index = chunks.find((chunk) => chunk.name === name)?.offsetIndex as Fields;
  const [first, second] = list<Fields>(index, 1).map((page) => [number(page, 1), number(page, 1) + number(page, 2)]);
  if (first === undefined || second === undefined) throw new Error('expected two pages');
  const [a, b] = [bytes.subarray(...first), bytes.subarray(...second)].map((page) => Buffer.from(page));
  if (a === undefined || b === undefined || a.equals(b)) throw new Error('expected two different pages');
  const swapped = Buffer.concat([bytes.subarray(0, first[0]), b, a, bytes.subarray(second[1])]);
  expect(swapped.length).toBe(readFileSync(path).length);
  writeFileSync(path, swapped);
  return path;
}
