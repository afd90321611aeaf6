import type { Span } from '../core/span.ts';
import type { LeftOut, TableDef } from '../declare/table.ts';
import type { Batch } from '../decode/batch.ts';
import type { ScalarFunction } from '../sql/database.ts';
import type { Query } from '../sql/query-result.ts';
import type { FileForm, FolderState, GrowingFile, RowFile } from './staging/row-folder.ts';

/** Inexpensive evidence of a table's rows. It is stored in the ledger and can be recomputed from the files. */
export interface TableEvidence {
  readonly rows: number;
  /** Sum modulo 2^64 of the first 64 bits of the md5 of each row's key columns; decimal text. */
  readonly keyHash: string;
  /** Sums of chosen columns (lt, fees); decimal text by column name. */
  readonly sums: Readonly<Record<string, string>>;
}

/** Minimum and maximum of a column as decimal text, microseconds for times, null if there is no value; and the number of nulls. */
export type ColumnBounds = readonly [least: string | null, greatest: string | null, nulls: number];

/** Bounds by column. */
export type FileBounds = Readonly<Record<string, ColumnBounds>>;

/** One file of a table. `path` is relative to the warehouse, with forward slashes. */
export interface TableFile {
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  /** Bounds of the columns by which queries skip files. */
  readonly bounds: FileBounds;
  /** SHA-256 of the file, 64 hex digits. DuckDB reads most flipped bits as other values, without an error. */
  readonly sha256: string;
  /** Present if its rows are those of files of earlier entries, unchanged. */
  readonly copied?: CopiedRows | undefined;
}

/** The commits in which rows were new. Their files may have been merged since. */
export interface CopiedRows {
  /** Number of the newest of these entries. */
  readonly newest: number;
  /** Sum modulo 2^64 of the first 64 bits of the SHA-256 of their ids, one per file. 16 hex digits. */
  readonly origin: string;
}

/** The rows that a commit added to one table. */
export interface TableEntry extends TableEvidence {
  /** Identifier of the columns of the files. */
  readonly schema: string;
  /** Empty in the DuckDB store. */
  readonly files: readonly TableFile[];
}

/** `accepted`: no check refused the rows; `coverage` has which are proven. `quarantined`: a record could not be decoded; its blocks are missing. */
export type Verdict = 'accepted' | 'quarantined';

/** The weakest state of some rows. */
export type Covered = 'proven' | 'unproven' | 'missing';

/** The inputs of a mart's rows. */
export interface MartStamp {
  /** UTC day of the rows, if the mart is built day by day. */
  readonly day?: string | undefined;
  /** Hash of the select and of the entries that it read: equal hashes mean equal rows. 16 hex digits. */
  readonly inputs: string;
  /** Weakest state of the rows that it reads. */
  readonly coverage: Covered;
  /** Names of the tables and marts that the select reads. */
  readonly reads: readonly string[];
  /** Number of the newest entry when the rows were selected. */
  readonly through: number;
  /** For a mart that can be merged: hash of its select and of those of the marts that it reads. 16 hex digits. */
  readonly select?: string | undefined;
  /** Present if the rows are findings of checks: for each check that passed, its inputs, as in `inputs`, or for rows of any day, as in `through`. */
  readonly passed?: Readonly<Record<string, string>> | undefined;
}

/**
 * Proof of rows before their commit. `transactions`: they agree with the transactions of the same blocks. `none`: they were not compared.
 * `contradicted`: their number agrees with the headers, but the content of a transaction contradicts its hash in every response.
 */
export type ListProofKind = 'transactions' | 'none' | 'contradicted';

/** Rows that were removed on purpose, recorded by an entry without rows. */
export interface ForgottenRows {
  /** `retention`: by the retention of a job. */
  readonly by: 'command' | 'retention';
  /** First and last UTC day of the rows; absent if they have no time. */
  readonly days?: { readonly from: string; readonly to: string } | undefined;
}

/** One commit: the rows of a span, and the fact that they are complete. */
export interface LedgerEntry {
  readonly format: 1;
  /** Position in the ledger, from 1. */
  readonly number: number;
  readonly id: string;
  readonly network: string;
  readonly pipeline: string;
  readonly version: number;
  /** From the first to the last block, with gaps if `spans` is present: use `spansOf`. */
  readonly span: Span;
  /** Present if it covers several spans: ascending, not adjacent. Blocks between them do not belong to it. */
  readonly spans?: readonly Span[] | undefined;
  readonly verdict: Verdict;
  readonly tables: Readonly<Record<string, TableEntry>>;
  readonly requests: number;
  readonly retries: number;
  /** Requests planned from the headers; absent if nothing was planned. */
  readonly planned?: number | undefined;
  /** Newest masterchain block before and after the rows were read; absent if rows never change. */
  readonly asOf?: Span | undefined;
  /** Present if only a part of the span was requested. The span does not count as done. */
  readonly scope?: string | undefined;
  /** Number of requested keys for which the source repeatedly returned no row; absent if all have one, or need none. */
  readonly unknownKeys?: number | undefined;
  /** Absent from headers and transactions, which are always proven. */
  readonly proof?: ListProofKind | undefined;
  /** Counts of the content proof, such as the transactions that agree with their hashes. Absent if content was not proven. */
  readonly content?: Readonly<Record<string, number>> | undefined;
  /** Identifier of the stored declaration of the pipeline; absent from marts. */
  readonly declaration?: string | undefined;
  /** Tables and columns that were not exported; absent if all were. */
  readonly without?: LeftOut | undefined;
  /** Present if the rows belong to a mart. */
  readonly mart?: MartStamp | undefined;
  /** Present if rows were removed on purpose: the entry is never in force. */
  readonly forgotten?: ForgottenRows | undefined;
  /** Id of the last entry of the same commit, if it has several. Without that entry, this one is not in force. */
  readonly commitWith?: string | undefined;
  /**
   * Present if its rows are unchanged rows of entries that it supersedes: number of the newest entry in which some of them were new.
   */
  readonly copies?: number | undefined;
  /** Ids of entries whose rows this one replaces. */
  readonly supersedes: readonly string[];
  /** Version of tonlake that committed it; absent if `verify --repair` filled a lost number. */
  readonly tonlake?: string | undefined;
  /** ISO 8601, UTC. */
  readonly committedAt: string;
}

/** The fields of an entry that the caller of a commit sets. */
export type CommitDraft = Pick<
  LedgerEntry,
  | 'network'
  | 'pipeline'
  | 'version'
  | 'span'
  | 'spans'
  | 'verdict'
  | 'requests'
  | 'retries'
  | 'planned'
  | 'asOf'
  | 'scope'
  | 'unknownKeys'
  | 'proof'
  | 'content'
  | 'without'
  | 'mart'
  | 'forgotten'
  | 'copies'
  | 'supersedes'
> & {
  /**
   * For lists and keys: number of the newest entry when the request was planned. Undefined for rows of blocks, whose spans show if another
   * writer has committed them. Not stored.
   */
  readonly seen?: number | undefined;
};

/** One of several entries that are committed together. */
export interface CommitPart {
  readonly staged: StagedSpan;
  readonly draft: CommitDraft;
}

/** Decides which of several rows with the same key is the newest: by the greatest value of a column, then by the order of writing. */
export interface NewestRule {
  readonly key: readonly string[];
  /** Undefined if the last row written is the newest. */
  readonly column: string | undefined;
}

export interface FinishOptions {
  /** The blocks of the rows. Default: the span of the stage. */
  readonly span?: Span | undefined;
  /** Keeps only the newest of several rows with the same key, by table. Default: keeps all. */
  readonly newest?: Readonly<Record<string, NewestRule>> | undefined;
}

/** Rows before their commit: written, but not visible to readers. */
export interface Stage {
  /**
   * Copies the rows; the batch's memory may be reused afterwards.
   *
   * @param startsPart true if the batch begins a part of the commit whose order may overlap with that of earlier rows. Default false
   */
  write(batch: Batch, startsPart?: boolean): Promise<FolderState>;
  /** Reports the bytes on disk of files that are still being written, so that a store can upload them early. */
  grow(files: readonly GrowingFile[]): Promise<void>;
  /** Completes the files and measures them. No write may follow. */
  finish(options?: FinishOptions): Promise<StagedSpan>;
  /** Removes everything that was written. */
  discard(): Promise<void>;
}

/** A stage that also takes rows from Parquet files. */
export interface FileStage extends Stage {
  /** Id of the commit, which is also in the names of its files. */
  readonly id: string;
  /** Folder of the stage; removed with it. */
  readonly folder: string;
  /** The form that its files should have. */
  readonly form: FileForm;
  /**
   * Moves a Parquet file with exactly the table's columns into the stage.
   *
   * @param known facts about its rows. Default: unsorted, not in the final form, of any number and size, of the day in its path
   */
  adopt(table: TableDef, path: string, known?: Partial<Omit<RowFile, 'table' | 'path'>>): Promise<void>;
  /**
   * Adds a data file of another warehouse, by a hard link or, if that is impossible, as a copy.
   *
   * @param from folder with the file at its path
   * @throws {StoreError} `damaged` if it is not the one that was committed
   */
  take(table: TableDef, file: TableFile, from: string): Promise<void>;
}

/** Rows of a span, ready to be committed. Plain data that a thread can send. */
export interface StagedSpan {
  readonly id: string;
  readonly tables: Readonly<Record<string, StagedTable>>;
}

export interface StagedTable extends TableEvidence {
  readonly schema: string;
  /** True if the rows were written in the table's order. */
  readonly isSorted: boolean;
  readonly files: readonly StagedFile[];
  /** Unchanged files of superseded entries that the new entry names, too. */
  readonly reused?: readonly TableFile[] | undefined;
}

/**
 * A staged file: its absolute path, and its future `path` in the warehouse. A file that the store reads once has no future path: its `path`
 * and checksum are empty, and it has no bounds.
 */
export interface StagedFile extends TableFile {
  readonly stagedPath: string;
}

/** Folder and form of staged files. */
export interface StagerOptions {
  /** `final`: the files that readers get, one per day. `plain`: files that the store reads once. */
  readonly form: FileForm;
  /** Absolute path of the folder of staged files. */
  readonly stagingPath: string;
}

/** Access to the rows of single entries. */
export interface EntryRows {
  /** SQL for the declared columns of a table's rows in some entries, for the store's `query`; entries set aside are allowed. */
  select(table: TableDef, entries: readonly LedgerEntry[]): string;
  /** UTC days of a table's rows, such as `2026-05-01`, and the entries in force that have rows of each. */
  days(table: string): Promise<readonly EntryDay[]>;
  /** @throws {StoreError} `damaged` if a file of an entry is not the one that was committed */
  requireSound(entry: LedgerEntry): Promise<void>;
  /**
   * A local folder with data files at their paths: the warehouse, or a folder in `scratch` to which they were downloaded.
   * @throws {StoreError} `damaged` if a downloaded file is not the one that was committed
   */
  localFolder(files: readonly TableFile[], scratch: string): Promise<string>;
}

/** An entry that has rows of a day. */
export interface EntryDay {
  readonly date: string;
  readonly entry: LedgerEntry;
}

/** A separate connection, whose long queries do not delay those of the store. */
export interface SideConnection {
  readonly query: Query;
  /** {@link Database.define} of its database. */
  define(functions: readonly ScalarFunction[]): Promise<void>;
  /** Cancels the running query, which throws. */
  interrupt(): void;
  /** Waits for running queries. */
  close(): Promise<void>;
}

/** A warehouse opened for writing. Only one process can open it so, except in an object store. */
export interface Store {
  readonly kind: 'parquet' | 'duckdb';
  /** Absolute path, or URL in an object store. */
  readonly path: string;
  /**
   * Ids of the entries that other writers have committed since it was opened, and of those whose commit failed here although they are in the
   * ledger; absent if there can be none.
   */
  readonly rivals?: ReadonlySet<string>;
  readonly staging: StagerOptions;
  stage(span: Span): FileStage;
  /** A stage of plain files that are only queried, never committed. It measures nothing. */
  scratch(): FileStage;
  /**
   * Makes the staged rows and the ledger entry visible in one step.
   * @throws {StoreError} `committed-meanwhile` if another writer was first; nothing is committed then
   */
  commit(staged: StagedSpan, draft: CommitDraft): Promise<LedgerEntry>;
  /**
   * Like `commit`, for several entries atomically. The last one supersedes what any of them replaces.
   * @param rivals ids of more entries that others have committed since these parts were planned
   */
  commitTogether(parts: readonly CommitPart[], rivals?: ReadonlySet<string>): Promise<readonly LedgerEntry[]>;
  /** Entries that are not superseded, in order of commit. */
  ledger(): readonly LedgerEntry[];
  /** Entries that record rows removed on purpose, in order of commit. */
  forgotten(): readonly LedgerEntry[];
  /**
   * Entries with a greater number, in order of commit, whether or not in force; without those of incomplete commits.
   * @param most approximate maximum number of entries. Default: all
   */
  log(after: number, most?: number): Promise<readonly LedgerEntry[]>;
  /** @throws {StoreError} `newer-tonlake` if another writer has committed unknown columns or tables, which a rewrite would lose */
  requireKnown(): void;
  /** Queries committed rows, one relation per table. A query that exceeds the memory limit is retried once with 2 GB. */
  readonly query: Query;
  /** Opens another connection, for queries beside commits. It must be closed before the store. */
  connect(): Promise<SideConnection>;
  readonly rows: EntryRows;
  /** Removes superseded files whose grace period is over. @returns how many */
  clearSuperseded(): Promise<number>;
  /** Closes unused DuckDB instances to free their memory. They are opened again when needed. */
  closeIdle(): Promise<void>;
  /** Waits for running commits, updates the catalog and releases the lock. */
  close(): Promise<void>;
}
