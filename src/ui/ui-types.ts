/** Answers of the server; the page imports these types. */

/** What is served, and within which limits. */
export interface Session {
  readonly version: string;
  readonly warehouse: string;
  readonly network: string;
  readonly store: string;
  readonly seconds: number;
  readonly memoryMb: number;
  readonly maxRows: number;
  readonly allowFiles: boolean;
}

export interface ResultColumn {
  readonly name: string;
  readonly type: string;
}

/** A query that ended; its rows are kept. */
export interface RunResult {
  readonly id: string;
  readonly columns: readonly ResultColumn[];
  readonly count: number;
  /** True if the query has more rows than are kept. */
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
}

/** A table, view or mart in a list. */
export interface TableItem {
  readonly name: string;
  readonly kind: 'table' | 'view' | 'mart';
  readonly doc: string;
  /** Pipeline that fills it; table that a view is of. */
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

/** Numbers of one column. */
export interface ColumnProfile {
  readonly name: string;
  readonly rows: number;
  readonly nulls: number;
  /** Estimated. */
  readonly distinct: number;
  readonly least: Cell;
  readonly most: Cell;
  /** Counts of equal ranges from the least to the greatest value, or of the most frequent values. */
  readonly bars: readonly { readonly label: string; readonly count: number }[];
  readonly ms: number;
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
