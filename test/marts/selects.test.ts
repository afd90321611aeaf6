import { afterAll, beforeEach, expect, test } from 'vitest';
import { Database } from '../../src/sql/database.ts';
import { declaredMacros } from '../../src/warehouse/relations/macros.ts';
import { marts } from './support.ts';

let database: Database;

beforeEach(async () => {
  database?.close();
  database = await Database.open();
  for (const { statement } of declaredMacros()) await database.run(await statement());
});
afterAll(() => database.close());

/** A table of literal rows. @param columns names, each with its type */
async function table(name: string, columns: string, ...rows: readonly string[]): Promise<void> {
  await database.run(`CREATE TABLE ${name} (${columns})`);
  for (const row of rows) await database.run(`INSERT INTO ${name} VALUES (${row})`);
}

async function texts(sql: string): Promise<readonly (readonly unknown[])[]> {
  const { rows } = await database.query(sql);
  return rows.map((row) => row.map((value) => (value === null ? null : String(value))));
}

/** Rows of the select of a mart over the tables. */
function selected(name: string, columns: string): Promise<readonly (readonly unknown[])[]> {
  const mart = marts.find((each) => each.name === name);
  return texts(`SELECT ${columns} FROM (${mart?.file.sql}) ORDER BY ALL`);
}

test('jetton_changes_daily: an order of which the server does not say whether it failed counts', async () => {
  const columns =
    'block_date DATE, jetton_master TEXT, source TEXT, destination TEXT, amount DECIMAL(38,0), tx_aborted BOOLEAN';
  await table(
    'jetton_transfers',
    columns,
    "'2026-05-01', 'J', 'A', 'B', 5, NULL",
    "'2026-05-01', 'J', 'A', 'B', 7, true",
  );
  await table('jetton_burns', columns.replace('source TEXT, destination', 'owner'), "'2026-05-01', 'J', 'B', 2, NULL");
  await table(
    'actions',
    'block_date DATE, asset TEXT, receiver TEXT, amount DECIMAL(38,0), type TEXT, success BOOLEAN',
  );
  expect(await selected('jetton_changes_daily', 'owner, received, sent, change, event_count')).toEqual([
    ['A', '0', '5', '-5', '1'],
    ['B', '5', '2', '3', '2'],
  ]);
});
