import type { Span } from '../core/span.ts';
import type { LeftOut, TableDef } from '../declare/table.ts';
import type { Batch } from '../decode/batch.ts';
import type { Query } from '../sql/query-result.ts';
import type { FileForm, RowFile } from './staging/row-folder.ts';

/** Cheap evidence of a table's rows, kept in the ledger and provable again from the files. */
export interface TableEvidence {
  readonly rows: number;
  /** Sum modulo 2^64 of the first 64 bits of the md5 of each row's key columns; decimal text. */
  readonly keyHash: string;
  /** Sums of chosen columns (lt, fees); decimal text by column name. */
  readonly sums: Readonly<Record<string, string>>;
}

/** One file of a table. `path` is relative to the warehouse, with forward slashes. */
export interface TableFile {
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  /** SHA-256 of the file, 64 hex digits. DuckDB reads most flipped bytes as other values, without an error. Absent from old entries. */
  readonly sha256?: string | undefined;
}

/** What a span added to one table. */
export interface TableEntry extends TableEvidence {
  /** Identifier of the list of columns the rows were written with. */
  readonly schema: string;
  /** `block_date` stands in the paths of the files alone. Absent from old entries, whose files hold it, too. */
  readonly dateIn?: 'path' | undefined;
  /** Empty in the DuckDB store. */
  readonly files: readonly TableFile[];
}

/** `sealed`: proven whole by the block headers. `quarantined`: a record could not be decoded; counts as not done. */
export type Verdict = 'sealed' | 'quarantined';

/** What the rows of a mart were made from. */
export interface MartStamp {
  /** UTC day of the rows, for a mart that is built by the day. */
  readonly day?: string | undefined;
  /** Stands for the select and for the entries that it read: equal stamps give equal rows. 16 hex digits. */
  readonly inputs: string;
  /** Whether everything that the rows tell of is sealed. */
  readonly sealed: boolean;
}

/**
 * What rows of a list were compared with before their commit. `transactions`: the transactions of the same blocks. `shards`: the shards
 * that cover every address. `none`: nothing; they are what the source answered.
 */
export type ListProofKind = 'transactions' | 'shards' | 'none';

/** What an entry without rows tells of those that were removed. */
export interface ForgottenRows {
  /** `retention`: by a job, because they were older than it keeps them. */
  readonly by: 'command' | 'retention';
  /** First and last UTC day of the rows; absent where they have none. */
  readonly days?: { readonly from: string; readonly to: string } | undefined;
}

/** One commit: the rows of a span, and the fact that they are complete. */
export interface LedgerEntry {
  /** 2 where `spans` is there, which older versions do not know: they refuse the warehouse instead of taking holes as done. */
  readonly format: 1 | 2;
  /** Position in the ledger, from 1. */
  readonly number: number;
  readonly id: string;
  readonly network: string;
  readonly pipeline: string;
  readonly version: number;
  /** From the first to the last block. What it covers is told by `spansOf`. */
  readonly span: Span;
  /** Present where it covers several spans that do not touch, ascending; nothing between them belongs to it. */
  readonly spans?: readonly Span[] | undefined;
  readonly verdict: Verdict;
  readonly tables: Readonly<Record<string, TableEntry>>;
  readonly requests: number;
  readonly retries: number;
  /** Requests that were planned for the span from the headers; absent where nothing was planned. */
  readonly planned?: number | undefined;
  /** Newest masterchain block before and after the rows were read; absent where rows never change. */
  readonly asOf?: Span | undefined;
  /** What was asked for, where it was not everything in the span: the entry counts for nothing as done then. */
  readonly scope?: string | undefined;
  /** Absent from headers and transactions, which are always proven, and from old entries of lists, which were not. */
  readonly proof?: ListProofKind | undefined;
  /** Identifier of the stored declaration of the pipeline; absent from marts and from old entries. */
  readonly declaration?: string | undefined;
  /** Tables and columns that were not exported; absent where everything was. */
  readonly without?: LeftOut | undefined;
  /** Present where the rows are those of a mart. */
  readonly mart?: MartStamp | undefined;
  /** Present where rows were removed on purpose: the entry is never in force. */
  readonly forgotten?: ForgottenRows | undefined;
  /** Id of the last entry of a commit of several: this one is in force only beside it. */
  readonly commitWith?: string | undefined;
  /** Ids of entries whose rows this one replaces. */
  readonly supersedes: readonly string[];
  /** ISO 8601, UTC. */
  readonly committedAt: string;
}

/** What a commit needs beside the staged rows. */
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
  | 'proof'
  | 'without'
  | 'mart'
  | 'forgotten'
  | 'supersedes'
>;

/** One of several entries that are committed in one step. */
export interface CommitPart {
  readonly staged: StagedSpan;
  readonly draft: CommitDraft;
}

/** Which of several rows with one key is the newest: the one with the greatest value of a column, and of those the last written. */
export interface NewestRule {
  readonly key: readonly string[];
  /** Undefined where the last written is the newest. */
  readonly column: string | undefined;
}

/** Rows of a span on their way: written, but not visible to anybody before the commit. */
export interface Stage {
  /** Takes the rows over; the batch's memory may be reused afterwards. */
  write(batch: Batch): Promise<void>;
  /**
   * Encodes what was written. No write may follow.
   *
   * @param newest which of several rows with one key is kept, by table; default: all are
   */
  finish(newest?: Readonly<Record<string, NewestRule>>): Promise<StagedSpan>;
  /** Removes everything that was written. */
  discard(): Promise<void>;
}

/** A stage that also takes rows that lie in files already. */
export interface FileStage extends Stage {
  /** Folder that the stage owns: files in it go with it. */
  readonly folder: string;
  /** How its files are best written. */
  readonly form: FileForm;
  /**
   * Takes over a Parquet file with exactly the table's columns.
   *
   * @param options `isSorted` when its rows are in the table's order, `isFinal` when readers can have it as it is, default neither;
   * `plainBytes` when the file is compressed, default its size
   */
  adopt(
    table: TableDef,
    path: string,
    options?: Partial<Pick<RowFile, 'isSorted' | 'isFinal' | 'plainBytes'>>,
  ): Promise<void>;
}

/** Finished rows of a span, ready to be committed. Plain data, so that a worker thread can hand it over. */
export interface StagedSpan {
  readonly id: string;
  readonly tables: Readonly<Record<string, StagedTable>>;
}

export interface StagedTable extends TableEvidence {
  readonly schema: string;
  readonly dateIn?: 'path' | undefined;
  /** Whether the rows were written in the table's order. */
  readonly isSorted: boolean;
  readonly files: readonly StagedFile[];
}

/** A staged file: its absolute path, and where it belongs (relative to the warehouse; empty in the DuckDB store). */
export interface StagedFile extends TableFile {
  readonly stagedPath: string;
}

/** Where stages lie, and what they are for. */
export interface StagerOptions {
  /** `final`: files as readers will get them, one for each day. `plain`: files that the store reads once. */
  readonly form: FileForm;
  /** Absolute path of the folder of staged files. */
  readonly stagingPath: string;
  /** Bound of DuckDB's memory in megabytes. Default 256. */
  readonly memoryMb?: number;
}

/** The rows of single entries, as a store keeps them. */
export interface EntryRows {
  /** SQL of the declared columns of a table's rows of some entries, for the store's `query`; damaged entries that were set aside count, too. */
  select(table: TableDef, entries: readonly LedgerEntry[]): string;
  /** UTC days of a table's rows, such as `2026-05-01`, each with the entries in force that hold rows of it. */
  days(table: string): Promise<readonly EntryDay[]>;
  /** @throws {StoreError} `damaged` when the rows of an entry do not lie in the files that were committed */
  requireSound(entry: LedgerEntry): Promise<void>;
}

/** An entry that holds rows of a day. */
export interface EntryDay {
  readonly date: string;
  /** Id of the entry. */
  readonly entry: string;
}

/** Where tables live, opened by the one process that may write. */
export interface Store {
  readonly kind: 'parquet' | 'duckdb';
  /** Absolute. */
  readonly path: string;
  /** Where stages lie. */
  readonly staging: StagerOptions;
  stage(pipeline: string, span: Span): FileStage;
  /** Makes the staged rows and the ledger entry visible in one step. */
  commit(staged: StagedSpan, draft: CommitDraft): Promise<LedgerEntry>;
  /** As `commit`, for several entries: all of them or none. Only the last one may supersede others. */
  commitTogether(parts: readonly CommitPart[]): Promise<readonly LedgerEntry[]>;
  /** Entries that are not superseded, in order of commit. */
  ledger(): readonly LedgerEntry[];
  /** Entries that tell of rows which were removed on purpose, in order of commit. */
  forgotten(): readonly LedgerEntry[];
  /** Reads over the committed rows: one relation per table. */
  readonly query: Query;
  readonly rows: EntryRows;
  /** Removes files that were superseded longer than the grace period ago. @returns how many. */
  clearSuperseded(): Promise<number>;
  /** Waits for commits under way, brings the catalog up to date and gives the warehouse free. */
  close(): Promise<void>;
}
