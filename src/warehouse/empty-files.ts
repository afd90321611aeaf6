import { readFileSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { packageFile } from '../core/own-package.ts';
import { sha256Of } from '../core/sha256.ts';
import { duckdbApi } from '../sql/duckdb-api.ts';

/** Maximum number of cached files, of about 1 MB each. */
const CACHED_FILES = 4;
/** Folder of the files of the shipped tables, which are built with the package. */
const SHIPPED = packageFile('dist/empty-files');
const SHIPPED_NAMES = ['catalog', 'database'] as const;

/** A database file without rows. */
interface EmptyFile {
  /** Hashes of the statements that created it. */
  readonly statements: ReadonlySet<string>;
  readonly bytes: () => Uint8Array;
}

/** Creates the file if it does not exist, and runs statements in it. Resolves when everything is on the disk. */
export type FillFile = (path: string, statements: readonly string[]) => Promise<void>;

/** Files that this process has created or read, oldest first. */
const cached: EmptyFile[] = [];
let shipped: readonly EmptyFile[] | undefined;

/**
 * Writes a database file without rows. It starts from the cached or shipped file that most of the statements created, which takes a
 * twentieth of the time.
 * @param statements SQL, of which each depends on earlier ones only
 */
export async function putEmptyFile(statements: readonly string[], path: string, fill: FillFile): Promise<void> {
  const hashes = statements.map(hashOf);
  const wanted = new Set(hashes);
  shipped ??= readShipped();
  const [start] = [...cached, ...shipped]
    .filter((file) => file.statements.size <= wanted.size && [...file.statements].every((hash) => wanted.has(hash)))
    .sort((a, b) => b.statements.size - a.statements.size);
  const bytes = start?.bytes();
  if (bytes !== undefined) await writeFile(path, bytes);
  const rest = statements.filter((_, at) => start?.statements.has(hashes[at] ?? '') !== true);
  if (rest.length > 0) await fill(path, rest);
  else if (start !== undefined && cached.includes(start)) return;
  const made = await readFile(path);
  cached.push({ statements: wanted, bytes: () => made });
  if (cached.length > CACHED_FILES) cached.shift();
}

/** Builds a file of the package, unless it is up to date. */
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

/** The files of this package, if the same version of DuckDB created them. */
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
