import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { Database } from '../../src/sql/database.ts';
import { freshFolder } from '../scratch.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/delivery.md'), 'utf8');

/** Statements of the lines that docs/delivery.md shows for the DuckDB client. */
const [make = '', ask = ''] = [...page.matchAll(/^duckdb mine\.duckdb "([^"]+)"$/gm)].map(([, sql]) => sql ?? '');

test('views of your own outlive commits in a database that attaches the catalog, and in the catalog they do not', async () => {
  const folder = freshFolder();
  const warehouse = join(folder, 'data/sandbox');
  const open = async (path: string, sql: string) => {
    const database = await Database.open(join(folder, path));
    try {
      return (await database.query(sql.replaceAll('data/sandbox', warehouse))).rows;
    } finally {
      database.close();
    }
  };
  const transactionsOf = async () => {
    const days = await open('mine.duckdb', ask);
    return days.reduce((sum, [, count]) => sum + Number(count), 0);
  };
  const exportRange = async (range: string) => {
    const { rows } = await run({ pipelines: ['transactions'], network: 'sandbox', range, warehouse });
    return rows['transactions'] ?? 0;
  };
  const before = await exportRange('1000:1001');
  await open('mine.duckdb', make);
  await open('data/sandbox/warehouse.duckdb', 'create view lost as select 1');
  expect(await transactionsOf()).toBe(before);

  const more = await exportRange('1002:1003');
  expect(more).toBeGreaterThan(0);
  expect(await transactionsOf()).toBe(before + more);
  await expect(open('data/sandbox/warehouse.duckdb', 'from lost')).rejects.toThrow('lost does not exist');
});
