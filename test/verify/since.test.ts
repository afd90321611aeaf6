import { expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { run } from '../../src/export/run.ts';
import { forgetRange } from '../../src/verify/forget.ts';
import { compactWarehouse, type ProvenLedger } from '../../src/warehouse/index.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { copyOf, entriesOf, exportWarehouse, ledgerFiles, replaceRows, rewrite, verify } from './support.ts';

const sandbox = await startTestSandbox();
/** In three commits for each pipeline. */
const made = await exportWarehouse(sandbox);

/** Verifies everything. */
async function prove(path: string): Promise<ProvenLedger> {
  const { report } = await verify(path);
  expect(report).toMatchObject({ proven: true });
  return { entry: report.entry, digest: report.ledger };
}

async function compact(warehouse: string): Promise<void> {
  const { tables, pipelines } = await loadRegistry();
  const { merged } = await compactWarehouse({ warehouse, tables, pipelines, effects: realEffects });
  expect(merged).toBe(2);
}

/** The only file of a table that an entry in force names. */
async function fileInForce(path: string, table: string): Promise<string> {
  const files = (await entriesOf(path)).flatMap(({ tables }) => tables[table]?.files ?? []);
  expect(files).toHaveLength(1);
  return files[0]?.path ?? '';
}

test('what was proven is not read again, and damage since is found by a verification of all', async () => {
  const path = copyOf(made);
  const since = await prove(path);
  await rewrite(path, await firstFile(path), 'SELECT * REPLACE (fwd_fee + 1 AS fwd_fee) FROM old');
  expect((await verify(path, { since })).report).toMatchObject({
    proven: true,
    entries: 0,
    files: 0,
    ...nothingNew(since),
  });
  expect((await verify(path)).kinds).toContain('file-changed');
});

test('what was merged since is read, and rows that a merge has changed are found', async () => {
  const path = copyOf(made);
  const since = await prove(path);
  await compact(path);
  const { report } = await verify(path, { since });
  expect(report).toMatchObject({ proven: true, entries: 2, files: 4 });
  const merged = await fileInForce(path, 'transactions');
  for (const change of ['SELECT * REPLACE (total_fees + 1 AS total_fees) FROM old', 'FROM old LIMIT 1']) {
    const other = copyOf(path);
    await replaceRows(other, merged, change);
    expect((await verify(other, { since })).kinds).toContain('rows-changed');
  }
  const damaged = copyOf(path);
  await rewrite(damaged, merged, 'FROM old');
  expect((await verify(damaged, { since })).kinds).toEqual(['file-changed']);
});

test('what was exported since is read, also by who knows the number of the entry alone', async () => {
  const path = copyOf(made);
  const since = await prove(path);
  await run({ pipelines: ['transactions'], network: sandbox.url, range: '1160:1169', warehouse: path });
  for (const digest of [since.digest, '']) {
    const { report } = await verify(path, { since: { ...since, digest } });
    expect(report).toMatchObject({ proven: true, entries: 2, spans: { transactions: [{ from: 1160, to: 1169 }] } });
  }
});

test('a state after some blocks were forgotten ends with the entry that says so', async () => {
  const path = copyOf(made);
  await forgetRange({ warehouse: path, pipelines: ['transactions'], range: '1150:1159' });
  const since = await prove(path);
  expect(since.entry).toBe(ledgerFiles(path).length);
  expect((await verify(path, { since })).report).toMatchObject({ proven: true, entries: 0, ...nothingNew(since) });
});

test('a ledger that is shorter than the proven one is verified from its start', async () => {
  const since = await prove(made);
  const { report } = await verify(made, { since: { ...since, entry: since.entry + 1 } });
  expect(report).toMatchObject({ entries: 6, ...nothingNew(since) });
});

test('of a DuckDB file, what came later is read', async () => {
  const path = await exportWarehouse(sandbox, 'w.duckdb');
  const since = await prove(path);
  expect((await verify(path, { since })).report).toMatchObject({ proven: true, entries: 0, ...nothingNew(since) });
});

function nothingNew({ entry, digest }: ProvenLedger) {
  return { entry, ledger: digest };
}

async function firstFile(path: string): Promise<string> {
  const [file] = (await entriesOf(path)).flatMap(({ tables }) => tables['messages']?.files ?? []);
  return file?.path ?? '';
}
