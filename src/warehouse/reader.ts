import type { Query, Stream } from '../sql/query-result.ts';
import type { LedgerEntry, Store } from './store.ts';

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
