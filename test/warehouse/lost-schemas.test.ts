import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadRegistry } from '../../src/declare/registry.ts';
import { run } from '../../src/export/run.ts';
import { buildMarts } from '../../src/marts/build-marts.ts';
import { Database } from '../../src/sql/database.ts';
import { LedgerFolder } from '../../src/warehouse/ledger/ledger-folder.ts';
import { pathsIn } from '../../src/warehouse/parquet-store/entry-files.ts';
import { findSchemas } from '../../src/warehouse/parquet-store/lost-schemas.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { closing, freshFolder } from '../scratch.ts';

test('schemas of tables are found in their declarations, and those of tables and marts in their files', async () => {
  const { tables } = await loadRegistry();
  const sandbox = await startTestSandbox({ blocks: 60, activity: 0.3 });
  const warehouse = join(freshFolder(), 'w');
  await run({ pipelines: ['transactions'], network: sandbox.url, range: '1:5', warehouse });
  await run({
    ...{ pipelines: ['transactions'], network: sandbox.url, range: '6:10', warehouse },
    withoutColumns: ['messages.body_boc'],
  });
  await buildMarts(warehouse, { names: ['transactions_daily', 'accounts'] });
  const ledger = new LedgerFolder(warehouse);
  await ledger.refresh();
  const database = closing(await Database.open());
  const told = { entries: ledger.entries.all, pathOf: pathsIn(warehouse), query: database.query };
  const files = readdirSync(join(warehouse, '_ledger')).filter((name) => name.startsWith('schema-'));
  const ids = files.map((name) => name.slice('schema-'.length, -'.json'.length));
  const stored = files.map((name) => JSON.parse(readFileSync(join(warehouse, '_ledger', name), 'utf8')));
  const found = await findSchemas(ids, { ...told, tables: [] });
  expect(found).toEqual(ids.map((id, at) => ({ id, columns: stored[at] })));
  const noFiles = { ...told, pathOf: (path: string) => `${path} is gone`, tables };
  const declared = (await findSchemas(ids, noFiles)).map(({ id }) => id);
  const marts = ledger.entries.all.filter(({ mart }) => mart !== undefined);
  const ofMarts = marts.flatMap((entry) => Object.values(entry.tables).map(({ schema }) => schema));
  expect(new Set(declared)).toEqual(new Set(ids.filter((id) => !ofMarts.includes(id))));
  expect(await findSchemas(['0123456789ab'], { ...told, tables })).toEqual([]);
});
