/** Responses of the server; the page imports these types. */

/** The served warehouse, and limits. */
export interface Session {
  readonly version: string;
  readonly warehouse: string;
  readonly network: string;
  readonly maxRows: number;
  /** True if the page may add queries to the folder of saved ones. */
  readonly savesQueries: boolean;
  /** The command that writes all rows of a query. */
  readonly writeCommand: string;
}

export interface ResultColumn {
  readonly name: string;
  readonly type: string;
  /** True if its numbers are quantities, which get thousands separators. */
  readonly isQuantity: boolean;
}

/** A finished query; the server stores its rows for a while. */
export interface RunResult {
  readonly id: string;
  readonly columns: readonly ResultColumn[];
  readonly count: number;
  /** True if the query has more rows than are stored. */
  readonly isCut: boolean;
  readonly warnings: readonly string[];
  readonly ms: number;
  /** Read from Parquet files; null in a DuckDB warehouse. */
  readonly bytesRead: number | null;
}

/** Values as text, with all digits. */
export type Cell = string | null;

export interface ResultRows {
  readonly from: number;
  readonly rows: readonly (readonly Cell[])[];
}

export interface Failure {
  readonly error: string;
  readonly code: string;
  readonly hint?: string | undefined;
  /** The wrong line of a query, with a caret below the place. */
  readonly excerpt?: string | undefined;
}

/** A table, view or mart in a list. */
export interface TableItem {
  readonly name: string;
  readonly kind: 'table' | 'view' | 'mart';
  readonly doc: string;
  /** Pipeline that fills it; for a view, its table. */
  readonly of: string | null;
  readonly rows: number | null;
  readonly bytes: number | null;
  readonly files: number | null;
}

export interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly unit: string | null;
  readonly doc: string;
  readonly isNullable: boolean;
  readonly isKey: boolean;
}

export interface TableFileItem {
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  readonly entry: number;
}

export interface TableDetail extends TableItem {
  readonly grain: string | null;
  readonly key: readonly string[];
  readonly endpoint: string | null;
  readonly sql: string | null;
  readonly columns: readonly TableColumn[];
  readonly gaps: readonly string[];
  /** The newest ones. */
  readonly newestFiles: readonly TableFileItem[];
}

/** Statistics of one column. */
export interface ColumnProfile {
  readonly rows: number;
  readonly nulls: number;
  /** Estimated. */
  readonly distinct: number;
  readonly least: Cell;
  readonly most: Cell;
  /** Counts of equal ranges from the least to the greatest value, or of the most frequent values. */
  readonly bars: readonly { readonly label: string; readonly count: number }[];
}

/** Names for completion. */
export interface Names {
  readonly columns: Readonly<Record<string, readonly string[]>>;
  readonly functions: readonly string[];
  readonly keywords: readonly string[];
}

export interface SavedQuery {
  readonly name: string;
  readonly sql: string;
}

/** An example for the search. */
export interface ExploreExample {
  readonly title: string;
  readonly value: string;
}

export interface BlockSpan {
  readonly from: number;
  readonly to: number;
}

/** One pipeline in the overview. */
export interface PipelineItem {
  readonly name: string;
  /** Whether headers or transactions prove its rows. */
  readonly proof: 'proven' | 'in part' | 'unproven';
  readonly blocks: number;
  readonly rows: number;
  readonly bytes: number;
  readonly missing: number;
  readonly quarantined: number;
  readonly lastCommit: string | null;
}

/** Blocks that some pipelines lack, and the command that fetches them. */
export interface FillItem {
  readonly pipelines: readonly string[];
  readonly blocks: number;
  readonly command: string;
}

export interface MartItem {
  readonly name: string;
  readonly rows: number;
  /** Days, or `all`, of which tables that it reads lack rows. */
  readonly lacking: readonly string[];
  /** `built 3 commits ago`; null if it is current. */
  readonly stale: string | null;
}

/** Blocks of a run's range that are done, over all of its pipelines. */
export interface RunProgress {
  readonly done: number;
  readonly total: number;
}

/** A run of a job. */
export interface RunItem {
  readonly job: string;
  readonly id: string;
  /** As in its record, or `killed`. */
  readonly state: string;
  readonly due: string;
  readonly trigger: string;
  readonly attempts: number;
  /** Days, or blocks. */
  readonly range: string | null;
  /** Of a run under way; null if it is not known. */
  readonly progress: RunProgress | null;
  readonly startedAt: string | null;
  readonly seconds: number | null;
  readonly error: string | null;
  readonly steps: readonly StepItem[];
}

export interface StepItem {
  readonly kind: string;
  readonly name: string;
  readonly status: string;
  readonly seconds: number;
  readonly message: string | null;
}

/** A job file. */
export interface JobItem {
  readonly name: string;
  readonly file: string;
  readonly doc: string;
  /** Cron expression and time zone. */
  readonly schedule: string | null;
  /** When it is due next: ISO 8601, UTC. */
  readonly next: string | null;
  readonly outputs: readonly string[];
  /** Error of the file; null if it is valid. */
  readonly error: string | null;
}

export interface Jobs {
  /** The command that begins a project with a job. */
  readonly beginCommand: string;
  readonly jobs: readonly JobItem[];
  /** Newest first. */
  readonly runs: readonly RunItem[];
}

/** A file that a run published. */
export interface OutputItem {
  readonly path: string;
  readonly bytes: number;
  /** `published`: its bytes are those of the run. */
  readonly state: 'published' | 'replaced' | 'gone';
  readonly isPage: boolean;
}

export interface RunDetail {
  readonly run: RunItem;
  /** The newest lines, each with its time. */
  readonly log: readonly string[];
  readonly logLines: number;
  readonly outputs: readonly OutputItem[];
}

export interface ReportParam {
  readonly name: string;
  readonly type: string;
  readonly doc: string;
  readonly value: string;
  readonly isRequired: boolean;
  readonly choices: readonly string[];
}

/** A report that can be rendered. */
export interface ReportItem {
  /** Of a report that comes with tonlake, otherwise its path. */
  readonly name: string;
  readonly title: string;
  readonly doc: string;
  readonly params: readonly ReportParam[];
  /** Why it cannot be used. */
  readonly error: string | null;
}

/** A rendered report; the server stores its page for a while. */
export interface RenderedItem {
  readonly id: string;
  readonly title: string;
  readonly isEmpty: boolean;
  readonly ms: number;
}

/** The process that writes the warehouse. */
export interface WriterItem {
  readonly command: string;
  readonly since: string;
  readonly isElsewhere: boolean;
}

export interface Overview {
  /** The command that exports the first blocks. */
  readonly beginCommand: string;
  /** Newest masterchain block of the warehouse. */
  readonly head: { readonly seqno: number; readonly time: string | undefined } | null;
  readonly blocks: number;
  readonly rows: number;
  readonly bytes: number;
  readonly missing: number;
  readonly fills: readonly FillItem[];
  readonly quarantinedRecords: number;
  readonly pipelines: readonly PipelineItem[];
  readonly marts: readonly MartItem[];
  readonly writer: WriterItem | null;
  /** Runs under way, and the newest others. */
  readonly runs: readonly RunItem[];
  /** The newest failed and killed runs that are not among `runs`. */
  readonly failures: readonly RunItem[];
}

/** `outside`: before the first or after the last block of the pipeline. */
export type CellState = 'proven' | 'unproven' | 'part' | 'missing' | 'quarantined' | 'forgotten' | 'outside';

/** Some blocks of a pipeline. */
export interface CoverageCell extends BlockSpan {
  readonly state: CellState;
  /** Blocks that are there. */
  readonly blocks: number;
}

export interface Coverage extends BlockSpan {
  /** From the first to the last block of the warehouse. */
  readonly whole: BlockSpan | null;
  readonly pipelines: readonly { readonly name: string; readonly cells: readonly CoverageCell[] }[];
}

export interface EntryItem {
  readonly number: number;
  readonly spans: string;
  readonly proof: string;
  readonly requests: number;
  readonly retries: number;
  readonly committedAt: string;
  readonly evidence: readonly { readonly table: string; readonly rows: number; readonly keyHash: string }[];
}

/** Coverage and entries of some blocks of a pipeline. */
export interface CellDetail {
  /** Blocks; empty for none. */
  readonly proven: string;
  /** Blocks and reasons. */
  readonly unproven: string;
  readonly missing: string;
  /** UTC days of the blocks. */
  readonly days: readonly string[];
  readonly entries: readonly EntryItem[];
  readonly entryCount: number;
  readonly fill: string | null;
}

/** What happened in each whole unit of time of the newest blocks. */
export interface Activity {
  readonly unit: 'second' | 'minute' | 'hour' | 'day';
  /** Table of the fees; null if there is none. */
  readonly fees: string | null;
  /** Time, transactions, fees in TON. */
  readonly points: ResultRows['rows'];
}

/** Balances of an account over time. */
export interface BalanceHistory {
  readonly table: string;
  /** States of the account that have a balance; the points may be fewer. */
  readonly count: number;
  readonly points: readonly { readonly time: string; readonly ton: string }[];
}

/** The origin of a row, as text. */
export interface ExplainedRow {
  readonly text: string;
}

export interface FoundRows extends Pick<ResultRows, 'rows'> {
  readonly columns: readonly FoundColumn[];
  /** Columns of the key, and where they are. */
  readonly key: readonly { readonly name: string; readonly at: number }[];
}

/** A column of a found row, and its format in the summary of the row; absent if it is not part of that. */
export interface FoundColumn extends Omit<ResultColumn, 'isQuantity'> {
  readonly format?: 'time' | 'ton' | 'address' | 'text' | undefined;
}
