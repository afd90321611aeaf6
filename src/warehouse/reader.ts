import type { TableDef } from '../declare/table.ts';
import { guarded } from '../files/file-failure.ts';
import type { Query, Stream } from '../sql/query-result.ts';
import type { LedgerEntry, Store } from './store.ts';
import { detectStoreKind, loadDriver, noWarehouse } from './store-kinds.ts';
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
  /** Entries that tell of rows which were removed on purpose, in order of commit. */
  forgotten(): Promise<readonly LedgerEntry[]>;
  /** Absolute paths of the files that hold a table's rows; none in a DuckDB warehouse. */
  files(table: string): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface ReaderOptions {
  /** Every query sees what was committed when the warehouse was opened, for results that belong together. Default false. */
  readonly isPinned?: boolean | undefined;
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
  const driver = await loadDriver(kind);
  return guarded(`warehouse ${absolute}`, () => driver.openReader(absolute, tables, options));
}
