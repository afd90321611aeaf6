import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isMasterchain } from '../../src/declare/pipeline.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { run } from '../../src/export/run.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts';
import { Database } from '../../src/sql/database.ts';
import { freshFolder } from '../scratch.ts';
import { contentOf, copyOf, ledgerFiles, readEntry, repair } from './support.ts';

/** Blocks in which every pipeline has rows. */
const RANGE = '970:981';
const { lasting, pipelines } = await loadRegistry();
/** Lists, snapshots and lookups; verify.test.ts has the pipelines that headers prove. */
const LISTS = pipelines.filter((pipeline) => lasting.includes(pipeline.name) && !isMasterchain(pipeline));
const NAMES = LISTS.map(({ name }) => name);

let sandbox: Sandbox;
const parquet = join(freshFolder(), 'w');
const duckdb = join(freshFolder(), 'w.duckdb');
let sound: unknown;

beforeAll(async () => {
  // Far behind the head, so that nothing is written late.
  sandbox = await startSandbox({ blocks: 4000 });
  for (const warehouse of [parquet, duckdb]) {
    const report = await run({ pipelines: lasting, network: sandbox.url, range: RANGE, warehouse, workers: 0 });
    const tables = LISTS.flatMap((pipeline) => pipeline.tables.map(({ name }) => name));
    expect(tables.filter((name) => (report.rows[name] ?? 0) === 0)).toEqual([]);
  }
  sound = await contentOf(parquet);
});
afterAll(() => sandbox.close());

/** Repairs a warehouse in which every list is damaged, and compares its tables with the undamaged ones. */
async function expectRepaired(path: string, kind: string): Promise<void> {
  const { report, findings } = await repair(sandbox, path);
  const damaged = new Set(findings.filter((finding) => finding.kind === kind).map(({ pipeline }) => pipeline));
  expect([...damaged].sort()).toEqual(NAMES.toSorted());
  expect(report).toMatchObject({ proven: true, findings: 0 });
  expect(await contentOf(path)).toEqual(sound);
}

/** All files of lists, and of the keys that lookups have read. */
function listFiles(warehouse: string): readonly string[] {
  return ledgerFiles(warehouse)
    .map(readEntry)
    .filter(({ pipeline }) => NAMES.includes(pipeline))
    .flatMap(({ tables }) => Object.values(tables).flatMap(({ files }) => files))
    .map(({ path }) => join(warehouse, path));
}

function flipByte(file: string): void {
  const bytes = readFileSync(file);
  bytes.writeUInt8(bytes.readUInt8(100) ^ 1, 100);
  writeFileSync(file, bytes);
}

test.each([
  ['with a flipped byte', 'file-changed', flipByte],
  ['cut short', 'file-unreadable', (file: string) => truncateSync(file, 100)],
])('Parquet files of every list %s: a repair fetches the same rows again', async (_, kind, damage) => {
  const path = copyOf(parquet);
  for (const file of listFiles(path)) damage(file);
  await expectRepaired(path, kind);
});

test('DuckDB rows of every list deleted, or with another key: a repair fetches the same rows again', async () => {
  const path = copyOf(duckdb);
  const database = await Database.open(path);
  for (const { name, key } of LISTS.flatMap(({ tables }) => tables)) {
    await database.run(`DELETE FROM _rows.${name} WHERE rowid % 2 = 1;
      UPDATE _rows.${name} SET ${key[0]} = (SELECT max(${key[0]}) FROM _rows.${name}) WHERE rowid = 0`);
  }
  database.close();
  await expectRepaired(path, 'rows-changed');
});
