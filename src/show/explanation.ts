import type { PipelineDef } from '../declare/pipeline.ts';
import type { TableDef } from '../declare/table.ts';
import type { LedgerEntry } from '../warehouse/index.ts';
import type { ShownThing } from './shown-thing.ts';

/** Where one row is from. */
export interface RowExplanation {
  /** Every column as text; bytes in base64, null for null. */
  readonly values: Readonly<Record<string, string | null>>;
  /** The ledger entry whose commit made it visible. */
  readonly entry: LedgerEntry;
  readonly past: EntryHistory;
  /** Undefined in a DuckDB warehouse. */
  readonly file: RowFileFacts | undefined;
  /** Masterchain block of the row; undefined if it belongs to none. */
  readonly block: number | undefined;
  readonly proof: RowProof;
  /** A newer reading of the same key, in a table that stores every reading; undefined if this is the newest. */
  readonly newerReading: { readonly readAt: string; readonly entry: number } | undefined;
}

/** The rows of a key, and where they are from. */
export interface Explanation {
  readonly table: string;
  /** Undefined for a mart. */
  readonly pipeline: string | undefined;
  readonly network: string;
  /** The newest reading first. */
  readonly rows: readonly RowExplanation[];
  /** True if more rows match the key. */
  readonly isCut: boolean;
  /** If no row matches: gaps of the table, and quarantined records that contain the key. */
  readonly reasons: readonly string[];
}

/** A table or mart, with what wrote it. */
export interface ExplainedTable {
  readonly table: TableDef;
  readonly pipeline: PipelineDef | undefined;
  /** Tables and marts that a mart reads. */
  readonly inputs: readonly string[];
}

/** An earlier entry. */
export interface EarlierEntry {
  readonly number: number;
  readonly committedAt: string;
}

/** The earlier commits of the same blocks. */
export interface EntryHistory {
  /** The first commits of rows that `compact` merged later; empty if the entry was not merged. */
  readonly mergedFrom: readonly EarlierEntry[];
  /** Entries whose rows were read again, and replaced. */
  readonly replaced: readonly EarlierEntry[];
}

/** The file of a row, and its place there. */
export interface RowFileFacts {
  /** Relative to the warehouse. */
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  /** Position of the row in the file, from 0. */
  readonly row: number;
  /** Row group of the row, from 0, and the position there. */
  readonly rowGroup: number;
  readonly rowInGroup: number;
  /** Whether the bytes are those that were committed. */
  readonly checksum: 'matches' | 'differs';
}

/** How a row was proven when it was committed, and whether the stored rows still agree. */
export interface RowProof {
  /**
   * `links`, `counts`: by block headers. `compared`: a list, with the transactions. `read`: not compared with anything. `mart`: derived
   * from other tables. `quarantine`: a record that could not be decoded.
   */
  readonly kind: 'links' | 'counts' | 'compared' | 'read' | 'mart' | 'quarantine';
  readonly statement: string;
  /** The same check on the rows that are stored now; undefined if they are not enough for it. */
  readonly evidence: { readonly holds: boolean; readonly text: string } | undefined;
}

/** A thing, with the origin of its row if it was requested (`--why`). */
export interface ExplainedThing extends ShownThing {
  readonly why?: Explanation;
}

/** True if rows were found, and their files and proofs are as committed. */
export function isSound({ rows }: Explanation): boolean {
  return (
    rows.length > 0 && rows.every(({ file, proof }) => file?.checksum !== 'differs' && proof.evidence?.holds !== false)
  );
}
