import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { FileWriter } from '../../src/parquet/parquet-writer.ts';
import { loadZstd } from '../../src/parquet/zstd.ts';
import { Database } from '../../src/sql/database.ts';
import { sumRows } from '../../src/warehouse/compaction/prove-merge.ts';
import { readFiles } from '../../src/warehouse/relations/table-relation.ts';
import { freshFolder } from '../scratch.ts';
import { anyValue, comparable, makeBatch, type Value } from './batches.ts';
import { everything } from './tables.ts';

const folder = freshFolder();
const database = await Database.open();
const { compress: zstd } = await loadZstd();
let files = 0;

afterAll(() => database.close());

/** The sum of rows that lie in one file of dictionaries and compressed pages, or in one for each row. */
async function sumOf(rows: readonly (readonly Value[])[], form: 'one file' | 'a file each'): Promise<string> {
  const lots = form === 'one file' ? [rows] : rows.map((row) => [row]);
  const paths = lots.map((lot) => {
    const path = join(folder, `${files++}.parquet`);
    const writer = new FileWriter(path, everything, form === 'one file' ? zstd : undefined);
    writer.write(makeBatch(everything, lot));
    writer.finish();
    return path;
  });
  return sumRows(database.query, everything, readFiles(paths));
}

const anyRow = fc.tuple(...everything.columns.map(anyValue));
const anyRows = fc.array(anyRow, { minLength: 1, maxLength: 12 });

test('the same rows have the same sum in any order and any files', async () => {
  await fc.assert(
    fc.asyncProperty(anyRows, async (rows) => {
      expect(await sumOf(rows.toReversed(), 'a file each')).toBe(await sumOf(rows, 'one file'));
    }),
    { numRuns: 25 },
  );
});

test.each(everything.columns.map((column, at) => [column.name, at] as const))(
  'another value of %s makes another sum',
  async (_, at) => {
    const column = everything.columns[at] as (typeof everything.columns)[number];
    await fc.assert(
      fc.asyncProperty(anyRows, anyValue(column), fc.nat(), async (rows, value, place) => {
        const changed = rows.map((row, i) => (i === place % rows.length ? row.with(at, value) : row));
        fc.pre(JSON.stringify(comparable(changed), text) !== JSON.stringify(comparable(rows), text));
        expect(await sumOf(changed, 'one file')).not.toBe(await sumOf(rows, 'one file'));
      }),
      { numRuns: 10 },
    );
  },
);

test('values that change places make another sum', async () => {
  const [one, other] = fc.sample(anyRow, { numRuns: 2, seed: 3 }) as [Value[], Value[]];
  const at = everything.columns.findIndex(({ name }) => name === 'id');
  const swapped = [one.with(at, other[at] as Value), other.with(at, one[at] as Value)];
  expect(await sumOf(swapped, 'one file')).not.toBe(await sumOf([one, other], 'one file'));
});

function text(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
