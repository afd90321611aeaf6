import type { TableDef } from '../declare/table.ts';
import type { LockHolder } from '../files/writer-lock.ts';
import type { Confinement } from '../sql/confined-sql.ts';
import type { Database, ScalarFunction } from '../sql/database.ts';
import type { Traffic } from '../sql/http-traffic.ts';
import type { Query, Stream } from '../sql/query-result.ts';
import type { SelectEach } from './select-each.ts';
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
  /** Like `query`, but rows are not collected in memory. */
  readonly stream: Stream;
  /** Entries in force, in order of commit. */
  ledger(): Promise<readonly LedgerEntry[]>;
  /** The marts, with the columns of their rows. */
  marts(): Promise<readonly TableDef[]>;
  /** Entries that record rows removed on purpose, in order of commit. */
  forgotten(): Promise<readonly LedgerEntry[]>;
  /**
   * Entries with a greater number, in order of commit, whether or not in force; without those of incomplete commits.
   * @param most approximate maximum number of entries. Default: all
   */
  log(after: number, most?: number): Promise<readonly LedgerEntry[]>;
  /** SQL for the declared columns of a table's rows in some entries, for `query`. */
  select(table: TableDef, entries: readonly LedgerEntry[]): string;
  /** Absolute paths of the files that hold a table's rows; none in a DuckDB warehouse. */
  files(table: string): Promise<readonly string[]>;
  /** SQL for a table's rows in force, for `query`, with the entry and file of each row. Columns that the warehouse lacks are null. */
  selectEach(table: TableDef): Promise<SelectEach>;
  /** The process that writes the warehouse now. */
  writer(): Promise<LockHolder | undefined>;
  /** @throws {StoreError} `not-a-query` unless it is one statement that only selects, or creates something temporary */
  requireQuery(statement: string): Promise<void>;
  /** Requests to the object store since the last call, or the start of the process; absent for local warehouses. */
  readonly traffic?: (() => Promise<ReaderTraffic>) | undefined;
  /** {@link Database.define} for the database of the queries, before its first query. Works for confined ones, too. */
  define(functions: readonly ScalarFunction[]): Promise<void>;
  /** Advances a pinned reader to the newest commit. Other readers advance with each call. */
  refresh(): Promise<void>;
  /** Cancels the running query, which throws. */
  interrupt(): void;
  /** Lets other processes write the warehouse. If it was opened confined, only temporary objects can be queried afterwards. */
  release(): Promise<void>;
  close(): Promise<void>;
}

/** Requests to an object store. */
export interface ReaderTraffic {
  /** For rows. */
  readonly data: Traffic;
  /** For the ledger and declarations. */
  readonly ledger: Traffic;
}

export interface ReaderOptions {
  /** Counts the requests for rows. Default false. */
  readonly countsTraffic?: boolean | undefined;
  /**
   * All queries see the state when the warehouse was opened, or at the last `refresh`, so their results are consistent. Default false.
   */
  readonly isPinned?: boolean | undefined;
  /** Queries can read only the warehouse, and cannot change settings. Default: unconfined. */
  readonly confinement?: Confinement | undefined;
}
