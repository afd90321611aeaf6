import { StoreError } from '../../core/errors.ts';
import type { TableDef } from '../../declare/table.ts';
import { guarded } from '../../files/file-failure.ts';
import { busyError, readLockHolder } from '../../files/writer-lock.ts';
import type { Database } from '../../sql/database.ts';
import { lakeFiles } from '../../sql/lake-files.ts';
import { LazyDeclarations } from '../../sql/lazy-declarations.ts';
import { hasRows } from '../ledger/done-spans.ts';
import type { Reader, ReaderOptions } from '../reader.ts';
import { readerSettings } from '../reader-settings.ts';
import { declaredMacros, trinoFunctionMacros } from '../relations/macros.ts';
import { committedMarts } from '../relations/mart-views.ts';
import { roleViews } from '../relations/role-views.ts';
import { requireReadable } from '../relations/table-schema.ts';
import type { LedgerEntry } from '../store.ts';
import type { TablesOf } from '../store-driver.ts';
import {
  attachFile,
  declarationsIn,
  openFile,
  pathsOf,
  readColumns,
  readEntries,
  readNetwork,
  selectEachRow,
  selectRows,
} from './database-file.ts';

/** @throws {StoreError} `busy` while another process writes the file */
export async function requireNoWriter(path: string): Promise<void> {
  const lock = pathsOf(path).lock;
  const holder = await readLockHolder(lock);
  if (holder === undefined) return;
  throw new StoreError(busyError(`warehouse ${path}`, holder, lock).message, {
    code: 'busy',
    hint: 'a DuckDB file cannot be read while it is being written: wait for the writer to finish, or use a Parquet warehouse (--store parquet)',
  });
}

/** Opens a DuckDB file for reading. @throws {StoreError} `busy` while another process writes it; `needs-migration` */
export async function openDuckdbReader(
  path: string,
  tablesOf: TablesOf,
  { confinement }: ReaderOptions = {},
): Promise<Reader> {
  await requireNoWriter(path);
  const database: Database =
    confinement === undefined
      ? await openFile(path, { ...readerSettings(), access_mode: 'READ_ONLY' })
      : await attachFile(path, readerSettings());
  try {
    const network = await readNetwork(database, path);
    const entries = await readEntries(database, path);
    const tables = await tablesOf(declarationsIn(database));
    const macros = new LazyDeclarations(database, [
      ...declaredMacros('temporary'),
      ...trinoFunctionMacros(),
      ...lakeFiles(),
      ...roleViews(tables),
    ]);
    const columns = await readColumns(database);
    const filled = tables.filter(({ name }) => hasRows(entries.effective, name));
    for (const table of filled) requireReadable(table, columns.get(table.name) ?? [], path);
    const select = (table: TableDef, own: readonly LedgerEntry[], more: readonly string[]): string =>
      selectRows(table, own, new Set(columns.get(table.name)?.map(({ name }) => name)), { more });
    let confined: Promise<void> | undefined;
    const answer = <T>(sql: string, ask: () => Promise<T>): Promise<T> =>
      guarded('query', async () => {
        if (confinement !== undefined) confined ??= database.confine([], confinement);
        await confined;
        return macros.run(sql, ask);
      });
    return {
      kind: 'duckdb',
      blocksWriters: true,
      path,
      network,
      query: (sql, parameters) => answer(sql, () => database.query(sql, parameters)),
      stream: (sql, parameters, use) => answer(sql, () => database.stream(sql, parameters, use)),
      ledger: async () => entries.effective,
      marts: async () => committedMarts(entries.effective, (name) => columns.get(name) ?? []),
      forgotten: async () => entries.forgotten,
      log: async (after, most) => entries.after(after).slice(0, most),
      select: (table, own) => select(table, own, []),
      files: async () => [],
      selectEach: async (table) => selectEachRow(select(table, entries.effective, ['_entry'])),
      // A file cannot be open for reading and writing at once.
      writer: async () => undefined,
      requireQuery: (statement) => answer(statement, () => database.requireQuery(statement)),
      define: (functions) => database.define(functions),
      refresh: async () => {},
      interrupt: () => database.interrupt(),
      release: async () => {
        if (confinement !== undefined) await database.detach();
      },
      close: async () => database.close(),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}
