import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { fixedFunction } from '../../src/bodies/body-functions.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { selectedTable } from '../../src/declare/selected-table.ts';
import { EmptyDatabase } from '../../src/warehouse/query/empty-database.ts';
import { openQueries } from '../../src/warehouse/query/query.ts';
import { watchInstances } from './duckdb-instances.ts';
import { makeItems } from './warehouses.ts';

const registry = await loadRegistry();

function martOf(column: string) {
  return selectedTable({
    ...{ name: 'a_mart', grain: '', key: [], isDated: false },
    columns: [{ name: column, type: 'BIGINT' }],
  });
}

const databasesIn = async ({ query }: EmptyDatabase): Promise<readonly unknown[]> =>
  (await query('SELECT database_name FROM duckdb_databases() WHERE NOT internal ORDER BY 1')).rows.flat();

test('empty databases of a process share an instance, and neither tables, macros, temporary relations nor variables', async () => {
  const { opened } = watchInstances();
  const first = await EmptyDatabase.open(registry);
  const second = await EmptyDatabase.open(registry);
  expect(opened.length).toBeLessThan(2);
  first.declare(martOf('one'));
  second.declare(martOf('other'));
  await first.query('CREATE MACRO of_both(x) AS x + 1; CREATE TEMP TABLE mine AS SELECT 1 AS a');
  await second.query('CREATE MACRO of_both(x) AS x + 2');
  await first.setVariable('day', "'2026-05-01'");
  const read = (empty: EmptyDatabase) => empty.scans('FROM a_mart');
  expect([await read(first), await read(second)]).toEqual([
    [{ relation: 'a_mart', columns: new Set(['one']), periods: undefined }],
    [{ relation: 'a_mart', columns: new Set(['other']), periods: undefined }],
  ]);
  const values = async ({ query }: EmptyDatabase) => (await query("SELECT of_both(1), getvariable('day')")).rows;
  expect([await values(first), await values(second)]).toEqual([[[2, '2026-05-01']], [[3, null]]]);
  await expect(second.query('FROM mine')).rejects.toThrow('Table with name mine does not exist');
  const both = await databasesIn(second);
  await first.close();
  expect(await databasesIn(second)).toHaveLength(both.length - 1);
  for (const empty of [first, second]) await empty.close();
  await expect(second.query('SELECT 1')).rejects.toThrow('the database is closed');
});

test('queries of a warehouse leave none behind', async () => {
  const path = await makeItems('parquet');
  const beside = await EmptyDatabase.open(registry, { readsFiles: false });
  const before = await databasesIn(beside);
  const queries = await openQueries(path);
  expect(await queries.read('SELECT 1 AS one', async ({ columns }) => columns.map(({ name }) => name))).toEqual([
    'one',
  ]);
  expect((await databasesIn(beside)).length).toBeGreaterThan(before.length);
  await queries.close();
  expect(await databasesIn(beside)).toEqual(before);
  await beside.close();
});

test('a select that runs is interrupted when it is closed', async () => {
  const empty = await EmptyDatabase.open(registry);
  const running = empty.query('SELECT sum(a.range * b.range) FROM range(1000000) a, range(1000000) b');
  const ended = expect(running).rejects.toThrow('Interrupted');
  await setImmediate();
  await empty.close();
  await ended;
});

test.each([
  String.raw`CREATE TEMP VIEW v AS SELECT E'a\'' AS a; CREATE TABLE hidden AS SELECT 1; SELECT '1'`,
  String.raw`SELECT E'a\''; CREATE TABLE hidden AS SELECT 1; SELECT '1'`,
  "SELECT $ä$ ' $ä$; CREATE TABLE hidden AS SELECT 1; SELECT ' '",
  "SET VARIABLE x = $ä$ ' $ä$; CREATE TABLE hidden AS SELECT 1; SELECT ' '",
])('only plans what a statement hides: %s', async (sql) => {
  const empty = await EmptyDatabase.open(registry, { readsFiles: false });
  await empty.scans(sql);
  const { rows } = await empty.query("SELECT table_name FROM duckdb_tables() WHERE table_name = 'hidden'");
  expect(rows).toEqual([]);
  await empty.close();
});

test('statements change no setting', async () => {
  const empty = await EmptyDatabase.open(registry);
  await expect(empty.query("SET memory_limit = '8GB'")).rejects.toThrow('locked');
  expect((await empty.query("SELECT current_setting('memory_limit')")).rows).toEqual([['244.1 MiB']]);
  await empty.close();
});

test('one for SQL of strangers reaches no file, whatever others may', async () => {
  const others = await EmptyDatabase.open(registry);
  const confined = await EmptyDatabase.open(registry, { readsFiles: false });
  const file = `SELECT content FROM read_text('${import.meta.filename}')`;
  expect((await others.query(file)).rows).toHaveLength(1);
  await expect(confined.query(file)).rejects.toThrow('Permission Error');
  await confined.close();
  await others.close();
});

test('functions are gone with the last one that is open', async () => {
  const { open } = watchInstances();
  const first = await EmptyDatabase.open(registry);
  const second = await EmptyDatabase.open(registry);
  const functions = [fixedFunction('boc_hash', '_hash_of_a_test', new Map())];
  for (const empty of [first, second]) await empty.define(functions);
  expect((await second.query('SELECT _hash_of_a_test(NULL)')).rows).toEqual([[null]]);
  await second.close();
  await first.close();
  expect(open.size).toBe(0);
  const next = await EmptyDatabase.open(registry);
  await expect(next.query('SELECT _hash_of_a_test(NULL)')).rejects.toThrow('_hash_of_a_test');
  await next.close();
});
