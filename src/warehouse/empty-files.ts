import { readFileSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { packageFile } from '../core/own-package.ts';
import { sha256Of } from '../core/sha256.ts';
import { duckdbApi } from '../sql/duckdb-api.ts';

/** How many files are kept in memory, at about 1 MB each. */
const KEPT_FILES = 4;
/** Where the files of the shipped tables are: they are made with the package. */
const SHIPPED = packageFile('dist/empty-files');
const SHIPPED_NAMES = ['catalog', 'database'] as const;

/** A database file without rows. */
interface EmptyFile {
  /** Hashes of the statements that made it. */
  readonly statements: ReadonlySet<string>;
  readonly bytes: () => Uint8Array;
}

/** Makes the file if there is none, and runs statements in it. Everything is on the disk then. */
export type FillFile = (path: string, statements: readonly string[]) => Promise<void>;

/** Those that this process has made or read; the oldest comes first. */
const kept: EmptyFile[] = [];
let shipped: readonly EmptyFile[] | undefined;

/**
 * Writes a database file without rows. Most of it is copied from one that was made by some of the same statements, in a twentieth of the
 * time.
 * @param statements SQL, of which each depends on earlier ones only
 */
export async function putEmptyFile(statements: readonly string[], path: string, fill: FillFile): Promise<void> {
  const hashes = statements.map(hashOf);
  const wanted = new Set(hashes);
  shipped ??= readShipped();
  const [start] = [...kept, ...shipped]
    .filter((file) => file.statements.size <= wanted.size && [...file.statements].every((hash) => wanted.has(hash)))
    .sort((a, b) => b.statements.size - a.statements.size);
  const bytes = start?.bytes();
  if (bytes !== undefined) await writeFile(path, bytes);
  const rest = statements.filter((_, at) => start?.statements.has(hashes[at] ?? '') !== true);
  if (rest.length > 0) await fill(path, rest);
  else if (start !== undefined && kept.includes(start)) return;
  const made = await readFile(path);
  kept.push({ statements: wanted, bytes: () => made });
  if (kept.length > KEPT_FILES) kept.shift();
}

/** Makes a file of the package, unless it is there. */
export async function shipEmptyFile(
  name: (typeof SHIPPED_NAMES)[number],
  statements: readonly string[],
  fill: FillFile,
): Promise<void> {
  const path = join(SHIPPED, `${name}.duckdb`);
  const label = JSON.stringify({ duckdb: duckdbApi().version(), statements: statements.map(hashOf) });
  if ((await readFile(`${path}.json`, 'utf8').catch(() => '')) === label) return;
  await mkdir(SHIPPED, { recursive: true });
  await rm(path, { force: true });
  await fill(path, statements);
  await writeFile(`${path}.br`, brotliCompressSync(await readFile(path)));
  await rm(path);
  await writeFile(`${path}.json`, label);
}

/** The files of this package, if this is the DuckDB that made them. */
function readShipped(): readonly EmptyFile[] {
  return SHIPPED_NAMES.flatMap((name) => {
    const path = join(SHIPPED, `${name}.duckdb`);
    const { duckdb, statements } = JSON.parse(readFileSync(`${path}.json`, 'utf8')) as ShippedFile;
    if (duckdb !== duckdbApi().version()) return [];
    return [{ statements: new Set(statements), bytes: () => brotliDecompressSync(readFileSync(`${path}.br`)) }];
  });
}

interface ShippedFile {
  /** Version of DuckDB. */
  readonly duckdb: string;
  readonly statements: readonly string[];
}

function hashOf(statement: string): string {
  return sha256Of(statement, 12);
}
