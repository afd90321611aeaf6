import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadRegistry } from '../../src/declare/registry.ts';
import { Database } from '../../src/sql/database.ts';
import { emptyDatabase } from '../../src/warehouse/duckdb-store/database-file.ts';
import { putEmptyFile } from '../../src/warehouse/empty-files.ts';
import { emptyCatalog } from '../../src/warehouse/relations/declared-relations.ts';
import { freshFolder } from '../scratch.ts';
import { items, parts } from './tables.ts';
import { queryFile } from './warehouses.ts';

const { tables } = await loadRegistry();
/** Of no other test: files that a process has made stay in its memory. */
const own = [items, parts].map((table) => ({ ...table, name: `own_${table.name}` }));

/** Puts a file. @returns its path, and the statements that had to be run */
async function put(statements: readonly string[]) {
  const path = join(freshFolder(), 'file.duckdb');
  const run: string[] = [];
  await putEmptyFile(statements, path, async (to, rest) => {
    run.push(...rest);
    const database = await Database.open();
    await database.changeFile(to, rest);
    database.close();
  });
  return { path, run };
}

async function relationsIn(path: string): Promise<readonly unknown[]> {
  const rows = await queryFile(
    path,
    `SELECT schema_name || '.' || view_name FROM duckdb_views() WHERE NOT internal
     UNION ALL SELECT schema_name || '.' || table_name FROM duckdb_tables() ORDER BY 1`,
  );
  return rows.flat();
}

test.each([
  ['a catalog', emptyCatalog],
  ['a database', emptyDatabase],
] as const)(
  '%s of the shipped tables is made with the package, and one with more tables starts from it',
  async (_, of) => {
    const shipped = await put(of(tables));
    expect(shipped.run).toEqual([]);
    const more = [...tables, ...own];
    const mixed = await put(of(more));
    const shippedSql = new Set(of(tables));
    expect(mixed.run).toEqual(of(more).filter((statement) => !shippedSql.has(statement)));
    const [before, after] = [await relationsIn(shipped.path), await relationsIn(mixed.path)];
    expect(after).toEqual(expect.arrayContaining([...before, 'main.own_items']));
    // From then on, this one is copied.
    const again = await put(of(more));
    expect(again.run).toEqual([]);
    expect((await readFile(again.path)).equals(await readFile(mixed.path))).toBe(true);
  },
);

test('a file that was made by other statements is not copied', async () => {
  const { path, run } = await put(emptyCatalog(own));
  expect(run).toEqual(emptyCatalog(own));
  expect(await relationsIn(path)).not.toContain('main.transactions');
});

test('what cannot be run leaves nothing of it', async () => {
  const path = join(freshFolder(), 'file.duckdb');
  const database = await Database.open();
  await expect(database.changeFile(path, ['CREATE VIEW one AS SELECT 1', 'SELECT nothing'])).rejects.toThrow('nothing');
  expect(await relationsIn(path)).toEqual([]);
  // The same connection goes on with its own database.
  await database.run('CREATE VIEW two AS SELECT 2');
  expect(await relationsIn(path)).toEqual([]);
  await database.changeFile(path, ['CREATE VIEW three AS SELECT 3']);
  expect(await relationsIn(path)).toEqual(['main.three']);
  database.close();
});
