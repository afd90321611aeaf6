import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { contentHash } from '../../src/audit/content-hash.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { loadMarts, type MartDef } from '../../src/marts/load-marts.ts';
import { Database } from '../../src/sql/database.ts';
import type { Reader } from '../../src/warehouse/index.ts';
import { tonlake } from '../cli.ts';
import { openWarehouse } from '../open-warehouse.ts';
import { afterFile, freshFolder } from '../scratch.ts';

export const registry = await loadRegistry();
export const marts: readonly MartDef[] = await loadMarts(registry);

/** Pipelines that feed every mart. */
export const everything = [
  'transactions',
  'actions',
  'jetton_transfers',
  'jetton_burns',
  'nft_transfers',
  'jetton_wallets',
  'account_latest',
];

/** A folder, or a file, with a range of the sandbox network. Its midnight stands between blocks 4999 and 5000. */
export async function exportSandbox(range: string, pipelines = everything, path = join(freshFolder(), 'w')) {
  const { code, stderr } = await tonlake([
    ...['run', ...pipelines, '--network', 'sandbox', '--range', range, '--warehouse', path],
  ]);
  expect(code, stderr).toBe(0);
  return path;
}

export async function copyOf(path: string): Promise<string> {
  const copy = join(freshFolder(), path.endsWith('.duckdb') ? 'w.duckdb' : 'w');
  await cp(path, copy, { recursive: true });
  return copy;
}

/** Rows and content hash of every mart of a warehouse. */
export async function hashMarts(path: string, names = marts.map(({ name }) => name)) {
  const warehouse = await openWarehouse(path);
  try {
    const hashes: Record<string, string> = {};
    for (const { name, table } of marts.filter((mart) => names.includes(mart.name))) {
      const { rows, hash } = await contentHash(warehouse.query, table);
      hashes[name] = `${rows} rows, ${hash}`;
    }
    return hashes;
  } finally {
    await warehouse.close();
  }
}

const opened = new Map<string, Reader>();

/** A folder stays open until the file's tests end: a reader of it sees every commit. */
async function openOnce(path: string): Promise<Reader> {
  const known = opened.get(path);
  if (known !== undefined) return known;
  const warehouse = await openWarehouse(path);
  if (warehouse.kind === 'parquet') {
    opened.set(path, warehouse);
    afterFile(async () => {
      opened.delete(path);
      await warehouse.close();
    });
  }
  return warehouse;
}

/** The rows of one query, every value as text. */
export async function texts(path: string, sql: string): Promise<readonly (readonly string[])[]> {
  const warehouse = await openOnce(path);
  try {
    return (await warehouse.query(sql)).rows.map((row) => row.map(String));
  } finally {
    if (warehouse.kind === 'duckdb') await warehouse.close();
  }
}

/** Changes the rows of a one-file warehouse behind the program's back. */
export async function damage(path: string, ...statements: readonly string[]): Promise<void> {
  const database = await Database.open(path);
  try {
    for (const statement of statements) await database.run(statement);
  } finally {
    database.close();
  }
}

/** A folder of selects. */
export async function sqlFolder(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = join(freshFolder(), 'sql');
  await mkdir(folder);
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}
