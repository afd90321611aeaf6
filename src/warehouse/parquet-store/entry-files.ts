import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreError } from '../../core/errors.ts';
import { sha256Of } from '../../core/sha256.ts';
import type { TableDef } from '../../declare/table.ts';
import { hashFile, ifAny, statIfAny } from '../../files/disk.ts';
import type { LedgerFolder } from '../ledger/ledger-folder.ts';
import { type FileGroup, readFiles, selectFiles } from '../relations/table-relation.ts';
import type { SelectEach } from '../select-each.ts';
import type { LedgerEntry, TableFile } from '../store.ts';
import { steadyPath } from './pinned-files.ts';

/** Where DuckDB reads a data file that the ledger names: a path or an address. */
export type PathOf = (path: string) => string;

/** {@link PathOf} of a folder. */
export function pathsIn(warehouse: string): PathOf {
  return (path) => steadyPath(warehouse, path);
}

/** A file of an entry. */
export interface EntryFile {
  readonly file: TableFile;
  /** Number of the entry. */
  readonly entry: number;
  /** Where it lies, by {@link PathOf}. */
  readonly place: string;
}

/** Files of a table that were written with the same columns. */
export interface EntryGroup extends FileGroup {
  /** Identifier of the columns. */
  readonly schema: string;
  readonly files: readonly EntryFile[];
}

/** Files of a table in some entries, grouped by their columns. Default: all entries in force. */
export function groupFiles(
  pathOf: PathOf,
  ledger: LedgerFolder,
  table: string,
  entries: readonly LedgerEntry[] = ledger.entries.effective,
): readonly EntryGroup[] {
  const groups = new Map<string, EntryFile[]>();
  for (const entry of entries) {
    const part = entry.tables[table];
    if (part === undefined) continue;
    const files = groups.get(part.schema) ?? [];
    groups.set(part.schema, files);
    for (const file of part.files) files.push({ file, entry: entry.number, place: pathOf(file.path) });
  }
  return [...groups].map(([schema, files]) => ({
    ...{ schema, columns: ledger.schema(schema).columns, files },
    paths: files.map(({ place }) => place),
  }));
}

/** SQL for a table's rows in some entries. `isNamed` adds the path of a row's file, and its position there. */
export function selectEntries(
  pathOf: PathOf,
  ledger: LedgerFolder,
  table: TableDef,
  entries: readonly LedgerEntry[],
  isNamed = false,
): string {
  return selectFiles(table, groupFiles(pathOf, ledger, table.name, entries), readFiles, isNamed);
}

/** As `selectEntries`, and the entry and file of each row. */
export function selectEachFile(
  pathOf: PathOf,
  ledger: LedgerFolder,
  table: TableDef,
  entries: readonly LedgerEntry[],
): SelectEach {
  const owners = new Map(
    entries.flatMap(({ number, tables }) =>
      (tables[table.name]?.files ?? []).map((file) => [pathOf(file.path), { entry: number, file }] as const),
    ),
  );
  const sql = selectEntries(pathOf, ledger, table, entries, true);
  return { sql, by: 'filename', position: 'file_row_number', ownerOf: (value) => owners.get(String(value)) };
}

/** Otherwise a flipped bit would be copied and committed as sound. @throws {StoreError} `damaged` */
export async function requireSound(warehouse: string, { path, bytes, sha256 }: TableFile): Promise<void> {
  const absolute = join(warehouse, path);
  const size = (await statIfAny(absolute))?.size;
  if (size === bytes && (await hashFile(absolute)) === sha256) return;
  throw damagedFile(warehouse, path);
}

/** The bytes of a file as they were committed. @throws {StoreError} `damaged` */
export async function readSound(warehouse: string, { path, bytes, sha256 }: TableFile): Promise<Uint8Array> {
  const absolute = join(warehouse, path);
  const read = await ifAny(readFile(absolute));
  if (read?.length === bytes && sha256Of(read) === sha256) return read;
  throw damagedFile(warehouse, path);
}

/** @param path as the ledger names the file */
export function damagedFile(warehouse: string, path: string): StoreError {
  return new StoreError(`store: ${warehouse}/${path} differs from the committed file`, {
    code: 'damaged',
    hint: `tonlake verify --repair --warehouse ${warehouse}`,
  });
}
