import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Database } from '../../src/sql/database.ts';
import { readColumns } from '../../src/warehouse/duckdb-store/database-file.ts';
import { closing, freshFolder } from '../scratch.ts';

test('columns of a DuckDB file are those that DuckDB lists, also after a table has changed', async () => {
  const database = closing(await Database.attach(join(freshFolder(), 'w.duckdb'), 'READ_WRITE'));
  const listed = async () => {
    const { rows } = await database.query(
      `SELECT table_name, list({name: column_name, type: data_type} ORDER BY column_index)::JSON FROM duckdb_columns()
        WHERE database_name = 'warehouse' AND schema_name = '_rows' AND column_name <> '_entry' GROUP BY ALL`,
    );
    return new Map(rows.map(([table, columns]) => [table, JSON.parse(String(columns))]));
  };
  await database.run(`CREATE SCHEMA _rows; CREATE TABLE _rows.a (x INTEGER, _entry BIGINT, "the ""y"", z" DECIMAL(38,0));
    CREATE TABLE _rows."it's" (s STRUCT(a VARCHAR, b TIMESTAMP[]), "_Entry2" BLOB); CREATE TABLE _rows.only (_entry BIGINT);
    CREATE VIEW a AS FROM _rows.a; CREATE TABLE a_too (i INTEGER); CREATE SCHEMA memory._rows; CREATE TABLE memory._rows.b (i INTEGER)`);
  const before = await readColumns(database);
  expect([...before.keys()]).toEqual(['a', "it's", 'only']);
  expect(before.get('only')).toEqual([]);
  expect(new Map([...before].filter(([, columns]) => columns.length > 0))).toEqual(await listed());
  await database.run(
    'ALTER TABLE _rows.a ALTER x TYPE VARCHAR; ALTER TABLE _rows.a ADD COLUMN w DATE; DROP TABLE _rows.only',
  );
  const after = await readColumns(database);
  expect(after.get('a')?.map(({ name, type }) => `${name} ${type}`)).toEqual([
    'x VARCHAR',
    'the "y", z DECIMAL(38,0)',
    'w DATE',
  ]);
  expect(after).toEqual(await listed());
});
