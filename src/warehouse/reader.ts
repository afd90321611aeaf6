import type { Query, Stream } from '../sql/query-result.ts';
import type { LedgerEntry, Store } from './store.ts';

/** A warehouse opened for reading only. */
export interface Reader {
  readonly kind: Store['kind'];
  /** True if nobody can write the warehouse while it is open. */
  readonly blocksWriters: boolean;
  /** Absolute. */
  readonly path: string;
  readonly network: string;
  /** One relation per table, and `_commits`. In a Parquet warehouse, each call sees what is committed at that moment. */
  readonly query: Query;
  /** As `query`, for any number of rows: none are kept in memory. */
  readonly stream: Stream;
  /** Entries in force, in order of commit. */
  ledger(): Promise<readonly LedgerEntry[]>;
  /** Entries that record rows removed on purpose, in order of commit. */
  forgotten(): Promise<readonly LedgerEntry[]>;
  /** Absolute paths of the files that hold a table's rows; none in a DuckDB warehouse. */
  files(table: string): Promise<readonly string[]>;
  /** Cancels the query that runs, which throws then. */
  interrupt(): void;
  close(): Promise<void>;
}

export interface ReaderOptions {
  /** All queries see what was committed when the warehouse was opened, so their results are consistent. Default false. */
  readonly isPinned?: boolean | undefined;
}
