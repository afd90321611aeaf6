import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type ContentHash, contentHash } from '../../src/audit/content-hash.ts';
import { realEffects } from '../../src/core/effects.ts';
import { loadRegistry, type Registry } from '../../src/declare/registry.ts';
import { run } from '../../src/export/run.ts';
import { Database } from '../../src/sql/database.ts';
import { withDamagedStore } from '../../src/verify/damaged-warehouse.ts';
import type { Finding } from '../../src/verify/finding.ts';
import { type RepairOptions, repairWarehouse } from '../../src/verify/repair.ts';
import { type VerifyOptions, type VerifyReport, verifyWarehouse } from '../../src/verify/verify.ts';
import { openReader } from '../../src/warehouse/open-store.ts';
import type { LedgerEntry } from '../../src/warehouse/store.ts';
import type { TestSandbox } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';
import { editFile } from '../warehouse/warehouses.ts';

/** A warehouse of 1080:1159, in three commits for each pipeline. */
export async function exportWarehouse(sandbox: TestSandbox, name = 'w'): Promise<string> {
  const warehouse = join(freshFolder(), name);
  for (const range of ['1080:1094', '1095:1139', '1140:1159']) {
    await run({ pipelines: ['transactions'], network: sandbox.url, range, warehouse });
  }
  return warehouse;
}

/** A copy to damage. */
export function copyOf(warehouse: string, name = basename(warehouse)): string {
  const copy = join(freshFolder(), name);
  cpSync(warehouse, copy, { recursive: true });
  return copy;
}

export function ledgerFiles(warehouse: string): readonly string[] {
  const folder = join(warehouse, '_ledger');
  return readdirSync(folder)
    .filter((name) => /^\d+\.json$/.test(name))
    .sort()
    .map((name) => join(folder, name));
}

export function readEntry(path: string): LedgerEntry {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** The file of an entry of the ledger by its number. */
export function entryFile(warehouse: string, number: number): string {
  return ledgerFiles(warehouse).find((file) => readEntry(file).number === number) ?? '';
}

/** Takes an entry away, from a folder or a DuckDB file; its rows stay where they are. */
export async function loseEntry(warehouse: string, number: number): Promise<void> {
  if (!warehouse.endsWith('.duckdb')) return rmSync(entryFile(warehouse, number));
  await editFile(warehouse, `DELETE FROM _ledger WHERE number = ${number}`);
}

/** Fills the numbers of lost entries, as a repair does that is killed then. */
export async function fillLedger(warehouse: string): Promise<void> {
  const fill = { effects: realEffects, command: 'tonlake verify --repair' };
  const registry = await loadRegistry();
  await withDamagedStore({ path: warehouse, registry }, (held) => held.fillLedger(fill));
}

/** The file of a table with a masterchain block, relative to the warehouse. */
export function fileOf(warehouse: string, table: string, seqno: number): string {
  const paths = ledgerFiles(warehouse)
    .map(readEntry)
    .filter(({ span }) => span.from <= seqno && seqno <= span.to)
    .flatMap(({ tables }) => tables[table]?.files ?? []);
  return paths[0]?.path ?? '';
}

/** Removes a data file. */
export function dropFile(warehouse: string, file: string): void {
  rmSync(join(warehouse, file));
}

/** As {@link rewrite}, as if these rows had been committed: with the right checksum. */
export async function replaceRows(warehouse: string, file: string, select: string): Promise<void> {
  await rewrite(warehouse, file, select);
  sign(warehouse, file);
}

/** Gives the ledger the size and checksum of a file as it is now. */
export function sign(warehouse: string, file: string): void {
  const bytes = readFileSync(join(warehouse, file));
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  for (const path of ledgerFiles(warehouse)) {
    const entry = readEntry(path);
    const named = Object.values(entry.tables).flatMap(({ files }) => files.filter((each) => each.path === file));
    for (const each of named) Object.assign(each, { bytes: bytes.length, sha256 });
    if (named.length > 0) writeFileSync(path, JSON.stringify(entry));
  }
}

/** Replaces a file by a select over its rows (`old`). */
export async function rewrite(warehouse: string, file: string, select: string): Promise<void> {
  const path = join(warehouse, file);
  const database = await Database.open();
  await database.run(`CREATE TABLE old AS FROM read_parquet('${path}', hive_partitioning = false)`);
  await database.run(`COPY (${select}) TO '${path}' (FORMAT parquet, COMPRESSION zstd)`);
  database.close();
}

export interface Verified {
  readonly report: VerifyReport;
  readonly findings: readonly Finding[];
  readonly kinds: readonly string[];
}

export async function verify(warehouse: string, options: Partial<VerifyOptions> = {}): Promise<Verified> {
  const findings: Finding[] = [];
  const report = await verifyWarehouse({ warehouse, onEvent: collect(findings), ...options });
  return { report, findings, kinds: kindsOf(findings) };
}

function collect(findings: Finding[]): NonNullable<VerifyOptions['onEvent']> {
  return (event) => {
    if (event.event === 'finding') findings.push(event);
  };
}

function kindsOf(findings: readonly Finding[]): readonly string[] {
  return [...new Set(findings.map(({ kind }) => kind))].sort();
}

/** What every table of the chain holds, as a reader sees it and in the form of the report of a verification. */
export async function contentOf(path: string, registry?: Registry): Promise<Readonly<Record<string, ContentHash>>> {
  const { tables } = registry ?? (await loadRegistry());
  const reader = await openReader(path, tables);
  try {
    const held = new Set((await reader.ledger()).flatMap((entry) => Object.keys(entry.tables)));
    const content: Record<string, ContentHash> = {};
    for (const table of tables) {
      if (table.name === 'quarantine' || !held.has(table.name)) continue;
      content[table.name] = await contentHash(reader.query, table);
    }
    return content;
  } finally {
    await reader.close();
  }
}

/** The entries in force, as a reader sees them. */
export async function entriesOf(path: string): Promise<readonly LedgerEntry[]> {
  const reader = await openReader(path, (await loadRegistry()).tables);
  return reader.ledger().finally(() => reader.close());
}

export interface Repaired {
  readonly report: VerifyReport;
  /** Number of requests to the source. */
  readonly requests: number;
  /** With `content`. */
  readonly content: unknown;
  /** Findings before and between the repairs. */
  readonly findings: readonly Finding[];
  readonly kinds: readonly string[];
}

export async function repair(
  sandbox: TestSandbox,
  warehouse: string,
  options: Partial<RepairOptions> = {},
): Promise<Repaired> {
  sandbox.requests.reset();
  const findings: Finding[] = [];
  const report = await repairWarehouse({ warehouse, onEvent: collect(findings), ...options });
  const { requests } = sandbox.requests.stats();
  return { report, requests, content: report.content, findings, kinds: kindsOf(findings) };
}
