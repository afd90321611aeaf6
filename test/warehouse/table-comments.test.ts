import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { run } from '../../src/export/run.ts';
import { open } from '../../src/library/open.ts';
import { buildMarts } from '../../src/marts/build-marts.ts';
import { loadMarts, martOf } from '../../src/marts/load-marts.ts';
import { forgetRange } from '../../src/verify/forget.ts';
import { compactWarehouse, openStore } from '../../src/warehouse/index.ts';
import { ownRelations } from '../../src/warehouse/query/state-relations.ts';
import { freshFolder } from '../scratch.ts';
import { queryFile } from './warehouses.ts';

const registry = await loadRegistry();
const declarations = { tables: registry.tables, pipelines: registry.pipelines };
const COLUMNS =
  "select column_name, comment from duckdb_columns() where table_name = 'transactions' and schema_name = 'main'";
const VIEWS =
  "select view_name, comment from duckdb_views() where view_name in ('transactions', 'actions') and schema_name = 'main'";

/** What the declaration says of each column, with its unit. */
function declared(table: string): Readonly<Record<string, string>> {
  const { columns } = registry.table(table);
  return Object.fromEntries(
    columns.map(({ name, doc, unit }) => [name, unit === undefined ? doc : `${doc} (${unit})`]),
  );
}

describe.each(['w', 'w.duckdb'])('other programs find our docs in %s', (name) => {
  const path = join(freshFolder(), name);

  test.each(['1:10', '11:20'])('after the commit of %s', { timeout: 60_000 }, async (range) => {
    await run({ pipelines: ['transactions'], network: 'sandbox', range, warehouse: path });
    expect(Object.fromEntries(await queryFile(path, COLUMNS))).toEqual(declared('transactions'));
    expect(Object.fromEntries(await queryFile(path, VIEWS))).toEqual({
      transactions: registry.table('transactions').grain,
      actions: registry.table('actions').grain,
    });
  });

  test('of marts and of what is there, too, also after a merge', { timeout: 60_000 }, async () => {
    await buildMarts(path, { names: ['transactions_daily'] });
    if (name === 'w') await compactWarehouse({ warehouse: path, ...declarations, effects: realEffects });
    const mart = martOf(await loadMarts(registry), 'transactions_daily');
    const grain = "select comment from duckdb_views() where schema_name = 'main' and view_name = 'transactions_daily'";
    expect(await queryFile(path, grain)).toEqual([[mart.grain]]);
    const lacking = `select table_name, column_name from duckdb_columns() where schema_name = 'main' and comment is null
      and table_name in ('transactions_daily', '_commits', '_coverage', '_freshness')`;
    expect(await queryFile(path, lacking)).toEqual([]);
  });

  test('of the ledger, by the declaration that tonlake show has, also in SQL of tonlake', async () => {
    const [ledger, ...states] = ownRelations;
    const sql = "select comment from duckdb_views() where schema_name = 'main' and view_name = '_commits'";
    expect(await queryFile(path, sql)).toEqual([[ledger?.grain]]);
    const lake = await open({ warehouse: path });
    onTestFinished(() => lake.close());
    expect(await lake.query(sql)).toEqual([{ comment: ledger?.grain }]);
    const names = states.map(({ name: own }) => `'${own}'`).join(', ');
    const grains = `select table_name, comment from duckdb_tables() where table_name in (${names}) order by all`;
    expect(await lake.query(grains)).toEqual(
      states.map(({ name: own, grain }) => ({ table_name: own, comment: grain })),
    );
    const lacking = `select column_name from duckdb_columns() where table_name in (${names}) and comment is null
      and database_name = 'temp'`;
    expect(await lake.query(lacking)).toEqual([]);
    const rows = await lake.query(COLUMNS);
    expect(Object.fromEntries(rows.map((row) => [row['column_name'], row['comment']]))).toEqual(
      declared('transactions'),
    );
  });
});

test('a new catalog of tables whose rows all left is written', { timeout: 60_000 }, async () => {
  const warehouse = join(freshFolder(), 'w');
  await run({ pipelines: ['transactions'], network: 'sandbox', range: '1:5', warehouse });
  await forgetRange({ warehouse, pipelines: ['transactions'], range: '1:5' });
  rmSync(join(warehouse, 'warehouse.duckdb'));
  await (await openStore({ path: warehouse, network: 'sandbox', ...declarations, effects: realEffects })).close();
  expect(await queryFile(warehouse, VIEWS)).toContainEqual(['transactions', registry.table('transactions').grain]);
});
