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

/** Least and greatest value of a column, as decimal text, microseconds for times, null if there is none; and the number of nulls. */
export type ColumnBounds = readonly [least: string | null, greatest: string | null, nulls: number];

/** Bounds by column. */
export type FileBounds = Readonly<Record<string, ColumnBounds>>;

/** One file of a table. `path` is relative to the warehouse, with forward slashes. */
export interface TableFile {
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  /** Of the columns that files are chosen by. */
  readonly bounds: FileBounds;
  /** SHA-256 of the file, 64 hex digits. DuckDB reads most flipped bits as other values, without an error. */
  readonly sha256: string;
  /** Present if its rows are those of files of earlier entries, unchanged. */
  readonly copied?: CopiedRows | undefined;
}

/** The commits that brought rows, which may be in other files since. */
export interface CopiedRows {
  /** Number of the newest of their entries. */
  readonly newest: number;
  /** Sum of the first 64 bits of the SHA-256 of their ids, one for each file, modulo 2^64. 16 hex digits. */
  readonly origin: string;
}

/** The rows that a commit added to one table. */
export interface TableEntry extends TableEvidence {
  /** Identifier of the columns of the files. */
  readonly schema: string;
  /** Empty in the DuckDB store. */
  readonly files: readonly TableFile[];
}

/** `accepted`: no check refused the rows; `coverage` tells which are proven. `quarantined`: a record could not be decoded; its blocks are missing. */
export type Verdict = 'accepted' | 'quarantined';

/** What a warehouse has of some rows, at least. */
export type Covered = 'proven' | 'unproven' | 'missing';

/** The inputs of a mart's rows. */
export interface MartStamp {
  /** UTC day of the rows, if the mart is built day by day. */
  readonly day?: string | undefined;
  /** Hash of the select and of the entries that it read: equal hashes mean equal rows. 16 hex digits. */
  readonly inputs: string;
  /** The least that the warehouse had of the rows that it reads. */
  readonly coverage: Covered;
  /** Names of the tables and marts that the select reads. */
  readonly reads: readonly string[];
  /** Number of the newest entry when they were selected: later ones are not in them. */
  readonly through: number;
  /** Hash of the select and of those of the marts that it reads, of a mart that can be merged. 16 hex digits. */
  readonly select?: string | undefined;
  /** Present if the rows are what checks found: what each check that passed has seen, as `inputs` or, of rows of any day, as `through`. */
  readonly passed?: Readonly<Record<string, string>> | undefined;
}

/**
 * What rows of a list were compared with before their commit. `transactions`: the transactions of the same blocks. `none`: nothing; they
 * are what the source answered. `contradicted`: headers count the rows, but a transaction does not have the hash of its content, however
 * often it was requested.
 */
export type ListProofKind = 'transactions' | 'none' | 'contradicted';

/** Rows that were removed on purpose, as recorded by an entry without rows. */
export interface ForgottenRows {
  /** `retention`: by a job that keeps rows only for some time. */
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
  /** From the first to the last block, with holes if `spans` is present: use `spansOf`. */
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
  /** Present if only a part of the span was requested: the span does not count as done then. */
  readonly scope?: string | undefined;
  /** Number of requested keys without a row at the source, also when asked again; absent if all have one, or need none. */
  readonly unknownKeys?: number | undefined;
  /** Absent from headers and transactions, which are always proven. */
  readonly proof?: ListProofKind | undefined;
  /** What the content of its transactions shows: how many agree with their hash, and the like. Absent if it was not proven. */
  readonly content?: Readonly<Record<string, number>> | undefined;
  /** Identifier of the stored declaration of the pipeline; absent from marts. */
  readonly declaration?: string | undefined;
  /** Tables and columns that were not exported; absent if all were. */
  readonly without?: LeftOut | undefined;
  /** Present if the rows belong to a mart. */
  readonly mart?: MartStamp | undefined;
  /** Present if rows were removed on purpose: the entry is never in force. */
  readonly forgotten?: ForgottenRows | undefined;
  /** Id of the last entry of the same commit, if it has several: without that one, this one is not in force. */
  readonly commitWith?: string | undefined;
  /**
   * Present if its rows are rows of entries that leave force in the same commit, unchanged: the number of the newest entry that brought some of
   * them.
   */
  readonly copies?: number | undefined;
  /** Ids of entries whose rows this one replaces. */
  readonly supersedes: readonly string[];
  /** Version of tonlake that committed it; absent if none did: `verify --repair` filled a lost number. */
  readonly tonlake?: string | undefined;
  /** ISO 8601, UTC. */
  readonly committedAt: string;
}

/** What the caller of a commit says about the staged rows. */
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
   * Number of the last entry that a reading of lists or keys knew when it chose what to read. Undefined for rows of blocks, which tell by
   * their blocks whether another writer has them. It is not stored.
   */
  readonly seen?: number | undefined;
};

/** One of several entries that are committed together. */
export interface CommitPart {
  readonly staged: StagedSpan;
  readonly draft: CommitDraft;
}

/** Which of several rows with the same key is the newest: the one with the greatest value of a column, then the last one written. */
export interface NewestRule {
  readonly key: readonly string[];
  /** Undefined if the last row written is the newest. */
  readonly column: string | undefined;
}

export interface FinishOptions {
  /** The blocks of the rows. Default: the span of the stage. */
  readonly span?: Span | undefined;
  /** Which of several rows with the same key to keep, by table. Default: all. */
  readonly newest?: Readonly<Record<string, NewestRule>> | undefined;
}

/** Rows before their commit: written, but not visible to readers. */
export interface Stage {
  /**
   * Copies the rows; the batch's memory may be reused afterwards.
   *
   * @param startsPart true if the rows before are another part of the commit, which may overlap in order. Default false
   */
  write(batch: Batch, startsPart?: boolean): Promise<FolderState>;
  /** Says what is on the disk of files that will get more rows: a store may take it early. */
  grow(files: readonly GrowingFile[]): Promise<void>;
  /** Completes the files and measures them. No write may follow. */
  finish(options?: FinishOptions): Promise<StagedSpan>;
  /** Removes everything that was written. */
  discard(): Promise<void>;
}

/** A stage that also takes rows from Parquet files. */
export interface FileStage extends Stage {
  /** Id of the commit, and in the names of its files. */
  readonly id: string;
  /** Folder of the stage; removed with it. */
  readonly folder: string;
  /** The form that its files should have. */
  readonly form: FileForm;
  /**
   * Takes over a Parquet file with exactly the table's columns.
   *
   * @param known of its rows. Default: not in order, not for readers, as many bytes as the file, any number, of the day in its path
   */
  adopt(table: TableDef, path: string, known?: Partial<Omit<RowFile, 'table' | 'path'>>): Promise<void>;
  /**
   * Takes a data file of another warehouse as it is: by a hard link, or as a copy where that is not possible.
   *
   * @param from folder that has it at its path
   * @throws {StoreError} `damaged` if it is not the one that was committed
   */
  take(table: TableDef, file: TableFile, from: string): Promise<void>;
}

/** Rows of a span, ready to be committed. Plain data, so that a worker thread can send it. */
export interface StagedSpan {
  readonly id: string;
  readonly tables: Readonly<Record<string, StagedTable>>;
}

export interface StagedTable extends TableEvidence {
  readonly schema: string;
  /** Whether the rows were written in the table's order. */
  readonly isSorted: boolean;
  readonly files: readonly StagedFile[];
  /** Files of entries that leave force, which the new one names as they are. */
  readonly kept?: readonly TableFile[] | undefined;
}

/**
 * A staged file: its absolute path, and where it belongs (relative to the warehouse). Files that the store reads once belong nowhere: their
 * path and checksum are empty, and they have no bounds.
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
   * A local folder that has data files at their paths: the warehouse, or a folder in `scratch` to which they were fetched.
   * @throws {StoreError} `damaged` if a fetched file is not the one that was committed
   */
  localFolder(files: readonly TableFile[], scratch: string): Promise<string>;
}

/** An entry that has rows of a day. */
export interface EntryDay {
  readonly date: string;
  readonly entry: LedgerEntry;
}

/** A connection of its own: the store's other queries do not wait for one that takes long. */
export interface SideConnection {
  readonly query: Query;
  /** {@link Database.define} of its database. */
  define(functions: readonly ScalarFunction[]): Promise<void>;
  /** Cancels the query that runs, which throws then. */
  interrupt(): void;
  /** Waits for running queries. */
  close(): Promise<void>;
}

/** A warehouse, opened for writing; only one process can do so, except in an object store. */
export interface Store {
  readonly kind: 'parquet' | 'duckdb';
  /** Absolute, or the address of a place in an object store. */
  readonly path: string;
  /** Ids of the entries that other writers have committed since it was opened; absent if there is only one writer. */
  readonly rivals?: ReadonlySet<string>;
  readonly staging: StagerOptions;
  stage(pipeline: string, span: Span): FileStage;
  /** A stage of plain files that are queried before the commit: it measures nothing, and is never committed. */
  scratch(): FileStage;
  /**
   * Makes the staged rows and the ledger entry visible in one step.
   * @throws {StoreError} `committed-meanwhile` if another writer was first; nothing is committed then
   */
  commit(staged: StagedSpan, draft: CommitDraft): Promise<LedgerEntry>;
  /** As `commit`, for several entries: all of them or none. The last one supersedes what any of them replaces. */
  commitTogether(parts: readonly CommitPart[]): Promise<readonly LedgerEntry[]>;
  /** Entries that are not superseded, in order of commit. */
  ledger(): readonly LedgerEntry[];
  /** Entries that record rows removed on purpose, in order of commit. */
  forgotten(): readonly LedgerEntry[];
  /**
   * Entries with a greater number, in order of commit, also those that are no longer in force; without those of incomplete commits.
   * @param most about how many to read at most. Default: all
   */
  log(after: number, most?: number): Promise<readonly LedgerEntry[]>;
  /** @throws {StoreError} `newer-tonlake` if another writer has committed columns or tables since, which a rewrite would lose */
  requireKnown(): void;
  /** Queries committed rows: one relation per table. One that exceeds the memory limit runs once more with 2 GB. */
  readonly query: Query;
  /** Opens another connection, for queries beside commits. To be closed before the store. */
  connect(): Promise<SideConnection>;
  readonly rows: EntryRows;
  /** Removes files whose grace period after they were superseded is over. @returns how many */
  clearSuperseded(): Promise<number>;
  /** Closes instances of DuckDB that nothing uses now: each keeps memory. What needs one later opens it again. */
  closeIdle(): Promise<void>;
  /** Waits for running commits, updates the catalog and releases the lock. */
  close(): Promise<void>;
}
