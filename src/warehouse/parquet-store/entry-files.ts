import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256Of } from '../../core/sha256.ts';
import type { TableDef } from '../../declare/table.ts';
import { damagedData, missingFile } from '../../files/damaged-data.ts';
import { hashFile, ifAny, statIfAny } from '../../files/disk.ts';
import type { FileSum } from '../../objects/object-store.ts';
import type { LedgerFolder } from '../ledger/ledger-folder.ts';
import { type FileGroup, readFiles, selectFiles } from '../relations/table-relation.ts';
import type { SelectEach } from '../select-each.ts';
import type { LedgerEntry, TableFile } from '../store.ts';
import { ledgerPath, placeOf } from './pinned-files.ts';

/** Returns where DuckDB reads a data file that the ledger names: an absolute path or a URL. */
export type PathOf = (path: string) => string;

/** {@link PathOf} of a folder. */
export function pathsIn(warehouse: string): PathOf {
  return (path) => placeOf(warehouse, path);
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
    ...{ schema, columns: ledger.schemas.get(schema).columns, files },
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

/** Like {@link selectEntries}, with the entry and file of each row. */
export function selectEachFile(
  pathOf: PathOf,
  ledger: LedgerFolder,
  table: TableDef,
  entries: readonly LedgerEntry[],
): SelectEach {
  const owners = new Map(
    entries.flatMap(({ number, tables }) =>
      (tables[table.name]?.files ?? []).map((file) => [file.path, { entry: number, file }] as const),
    ),
  );
  const sql = selectEntries(pathOf, ledger, table, entries, true);
  const ownerOf = (path: unknown) => owners.get(ledgerPath(String(path)));
  return { sql, by: 'filename', position: 'file_row_number', ownerOf };
}

/** True if a file has the bytes that were committed. @param got undefined if there is none */
export function isCommitted({ bytes, sha256 }: TableFile, got: FileSum | undefined): boolean {
  return got?.bytes === bytes && got.sha256 === sha256;
}

/** To be called before bytes are copied into new files. @throws {StoreError} `damaged` if they are not the committed bytes */
export function requireCommitted(warehouse: string, file: TableFile, got: FileSum | undefined): void {
  if (isCommitted(file, got)) return;
  if (got === undefined) throw missingFile(warehouse, file.path);
  throw damagedData(warehouse, `${warehouse}/${file.path} differs from the committed file`);
}

/** The committed bytes of a local file. @throws {StoreError} `damaged` */
export async function readSound(warehouse: string, file: TableFile): Promise<Uint8Array> {
  const read = await ifAny(readFile(join(warehouse, file.path)));
  requireCommitted(warehouse, file, read && { bytes: read.length, sha256: sha256Of(read) });
  return read ?? new Uint8Array();
}

/** Size and checksum of a local file; undefined if there is none. */
export async function sumFile(path: string): Promise<FileSum | undefined> {
  const bytes = (await statIfAny(path))?.size;
  return bytes === undefined ? undefined : { bytes, sha256: await hashFile(path) };
}
