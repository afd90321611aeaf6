import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Database } from '../../src/sql/database.ts';
import { type Declared, LazyDeclarations } from '../../src/sql/lazy-declarations.ts';
import { declaredMacros } from '../../src/warehouse/relations/macros.ts';

let database: Database;
let made: string[];
beforeEach(async () => {
  database = await Database.open();
  made = [];
});
afterEach(() => database.close());

function view(name: string, select: string): Declared {
  return {
    name,
    body: select,
    statement: () => {
      made.push(name);
      return `CREATE OR REPLACE VIEW ${name} AS ${select}`;
    },
  };
}

const declared = () => [
  view('One', 'SELECT 1 AS n'),
  view('two', 'SELECT n + 1 AS n FROM one'),
  view('three', 'SELECT 3'),
];

test('a statement makes what it names and what that stands on, once', async () => {
  const lazy = new LazyDeclarations(database, declared());
  const ask = (sql: string) => lazy.run(sql, () => database.query(sql));
  await ask('SELECT 5');
  expect(made).toEqual([]);
  await ask('SELECT n FROM TWO');
  expect(made).toEqual(['One', 'two']);
  await ask('SELECT one.n FROM two, one');
  expect(made).toEqual(['One', 'two']);
  expect((await ask('SELECT n FROM two')).rows).toEqual([[2]]);
});

test.each([
  'SHOW TABLES',
  'DESCRIBE',
  'describe;',
  '-- all\nDESC',
  'DESCRIBE -- all',
  'FROM (DESCRIBE)',
  "SELECT * FROM query ('SELECT 1')",
  'SELECT * FROM duckdb_views()',
  'SELECT table_name FROM information_schema.tables',
  "FROM query_table('thr' || 'ee')",
])('a statement that may list everything finds everything: %s', async (sql) => {
  await new LazyDeclarations(database, declared()).run(sql, () => database.query(sql));
  expect(made).toEqual(['One', 'two', 'three']);
});

test.each([
  'SELECT 5 AS n ORDER BY n DESC',
  'DESCRIBE -- of a select\nSELECT 5 AS n',
  'SELECT 5 AS n ORDER BY n\n  DESC;',
  'SELECT row_number() OVER (ORDER BY 1 DESC)',
  "SELECT 5 AS query, 'describe' AS n -- the last query",
  "FROM duckdb_logs_parsed('FileSystem')",
])('a statement that only looks like one makes nothing: %s', async (sql) => {
  await new LazyDeclarations(database, declared()).run(sql, () => database.query(sql));
  expect(made).toEqual([]);
});

test('a name that is not there is compared with everything that could be', async () => {
  const lazy = new LazyDeclarations(database, declared());
  await expect(lazy.run('FROM thre', () => database.query('FROM thre'))).rejects.toThrow('Did you mean "three"?');
  expect(made).toEqual(['One', 'two', 'three']);
});

test('the first of several statements is run once', async () => {
  const lazy = new LazyDeclarations(database, declared());
  const sql = 'CREATE TABLE own AS SELECT 1; FROM thre';
  await expect(lazy.run(sql, () => database.query(sql))).rejects.toThrow('Table with name thre does not exist');
});

test('the paths of data files name no view, other texts may', async () => {
  const lazy = new LazyDeclarations(database, declared());
  await lazy.run(
    "FROM read_parquet(['/w/tables/one/1.parquet', '/w/two/2.parquet']) WHERE x = 'three'",
    async () => {},
  );
  expect(made).toEqual(['three']);
});

test('what is made anew is what was made before', async () => {
  const lazy = new LazyDeclarations(database, declared());
  await lazy.run('FROM three', async () => {});
  lazy.add([view('three', 'SELECT 33 AS n')]);
  await lazy.recreate(['one', 'THREE', 'unknown']);
  expect(made).toEqual(['three', 'three']);
  expect((await database.query('FROM three')).rows).toEqual([[33]]);
});

describe('macros', () => {
  const all = declaredMacros();

  test.each(all.map(({ name, body }) => [name, body]))('%s is whole when it alone is named', async (name, body) => {
    await new LazyDeclarations(database, all).run(`SELECT ${name}(x)`, async () => {});
    const found = "SELECT function_name FROM duckdb_functions() WHERE function_type LIKE '%macro' AND NOT internal";
    const names = (await database.query(found)).rows.map(String);
    expect(names).toContain(name);
    // Every function that it calls must be there; messages only name some.
    const calls = body.replaceAll(/'[^']*'/g, '');
    const used = all.map((macro) => macro.name).filter((each) => calls.includes(`${each}(`));
    expect(names).toEqual(expect.arrayContaining(used));
  });
});
