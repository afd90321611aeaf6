import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StoreError } from '../core/errors.ts';
import type { TableDef } from '../declare/table.ts';
import { guarded } from '../files/file-failure.ts';
import { busyError, readLockHolder } from '../files/writer-lock.ts';
import type { Database } from '../sql/database.ts';
import { OnDemand } from '../sql/on-demand.ts';
import type { Query, Stream } from '../sql/query-result.ts';
import { openFile, pathsOf, readColumns, readEntries, readNetwork } from './duckdb-store/database-file.ts';
import { LedgerFolder, readIdentity, requireOwnEntries } from './ledger/ledger-folder.ts';
import { detectStoreKind } from './open-store.ts';
import { groupFiles } from './parquet-store/catalog.ts';
import { declaredMacros } from './relations/macros.ts';
import { roleViews } from './relations/role-views.ts';
import { requireReadable } from './relations/table-schema.ts';
import { WarehouseViews } from './relations/warehouse-views.ts';
import type { LedgerEntry, Store } from './store.ts';
import { warehousePath } from './store-options.ts';

/** A warehouse opened for reading only. */
export interface Reader {
  readonly kind: Store['kind'];
  /** Absolute. */
  readonly path: string;
  readonly network: string;
  /** One relation per table, and `_commits`. A Parquet warehouse shows what is committed at the moment of the call. */
  readonly query: Query;
  /** As `query`, for rows of any number: none are kept. */
  readonly stream: Stream;
  /** Entries in force, in order of commit. */
  ledger(): Promise<readonly LedgerEntry[]>;
  /** Absolute paths of the files that hold a table's rows; none in a DuckDB warehouse. */
  files(table: string): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface ReaderOptions {
  /** Every query sees what was committed when the warehouse was opened, for results that belong together. Default false. */
  readonly isPinned?: boolean | undefined;
}

let readers = 0;

/** Reading leaves nothing behind in the working folder, where DuckDB would spill by default. */
function readerSettings(): Readonly<Record<string, string>> {
  readers++;
  return { temp_directory: join(tmpdir(), `tonlake-spill-${process.pid}-${readers}`) };
}

/**
 * Opens a warehouse for reading. A Parquet warehouse can be read at any moment, also while it is written.
 * @throws {StoreError} `no-warehouse` when nothing is there; `busy` when a writer holds a DuckDB file; `needs-migration`.
 */
export async function openReader(
  path: string,
  tables: readonly TableDef[],
  options: ReaderOptions = {},
): Promise<Reader> {
  const absolute = warehousePath(path);
  const { kind, exists } = await detectStoreKind(absolute);
  if (!exists) throw noWarehouse(absolute);
  return guarded(`warehouse ${absolute}`, () =>
    kind === 'parquet' ? openFolder(absolute, tables, options) : openOneFile(absolute, tables),
  );
}

async function openFolder(path: string, tables: readonly TableDef[], { isPinned }: ReaderOptions): Promise<Reader> {
  const identity = await readIdentity(path);
  if (identity === undefined) throw noWarehouse(path);
  const { network } = identity;
  const ledger = new LedgerFolder(path);
  const checked = new Set<string>();
  // One refresh after the other: two at once would add the same entries twice.
  let last: Promise<void> = Promise.resolve();
  const refresh = (): Promise<void> => {
    const next = last.then(async () => {
      const fresh = await ledger.refresh();
      requireOwnEntries(path, network, fresh);
      for (const table of tables) {
        for (const entry of fresh) {
          const id = entry.tables[table.name]?.schema;
          const isOver = ledger.entries.successorOf(entry.id) !== undefined;
          if (id === undefined || isOver || checked.has(`${table.name} ${id}`)) continue;
          requireReadable(table, ledger.schema(id).columns, path);
          checked.add(`${table.name} ${id}`);
        }
      }
    });
    last = next.catch(() => {});
    return guarded(`warehouse ${path}`, () => next);
  };
  await refresh();
  const follow = isPinned === true ? async () => {} : refresh;
  const views = new WarehouseViews(path, ledger, tables, readerSettings());
  return {
    kind: 'parquet',
    path,
    network,
    query: async (sql, parameters) => {
      await follow();
      return views.query(sql, parameters);
    },
    stream: async (sql, parameters, use) => {
      await follow();
      return views.stream(sql, parameters, use);
    },
    ledger: async () => {
      await follow();
      return ledger.entries.effective;
    },
    files: async (table) => {
      await follow();
      return groupFiles(path, ledger, table).flatMap(({ paths }) => paths);
    },
    close: () => views.close(),
  };
}

async function openOneFile(path: string, tables: readonly TableDef[]): Promise<Reader> {
  const lock = pathsOf(path).lock;
  const holder = await readLockHolder(lock);
  if (holder !== undefined) {
    const busy = busyError(`warehouse ${path}`, holder, lock);
    throw new StoreError(busy.message, {
      code: 'busy',
      hint: 'a DuckDB file cannot be read while it is written: wait for it to end; a parquet warehouse (--store parquet) can',
    });
  }
  const database: Database = await openFile(path, { ...readerSettings(), access_mode: 'READ_ONLY' });
  try {
    const network = await readNetwork(database, path);
    const entries = await readEntries(database, path);
    const macros = new OnDemand(database, [...declaredMacros('temporary'), ...roleViews(tables)]);
    const columns = await readColumns(database);
    for (const table of tables) requireReadable(table, columns.get(table.name) ?? [], path);
    return {
      kind: 'duckdb',
      path,
      network,
      query: (sql, parameters) => guarded('query', () => macros.answer(sql, () => database.query(sql, parameters))),
      stream: (sql, parameters, use) =>
        guarded('query', () => macros.answer(sql, () => database.stream(sql, parameters, use))),
      ledger: async () => entries.effective,
      files: async () => [],
      close: async () => database.close(),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

function noWarehouse(path: string): StoreError {
  return new StoreError(`store: there is no warehouse at ${path}`, {
    code: 'no-warehouse',
    hint: 'name one with --warehouse, or make one with tonlake run',
  });
}
