import type { ColumnDef } from '../../declare/column.ts';
import { kinds } from '../../declare/kind.ts';
import { isSameSelection } from '../../declare/left-out.ts';
import { type PipelineDef, proofOf } from '../../declare/pipeline.ts';
import type { LedgerEntry } from '../../warehouse/index.ts';
import type { Measured } from './measure-pages.ts';

/** Bytes and time of some rows. */
export interface Weight {
  /** Bytes of Parquet, and their uncertainty, plus or minus. */
  readonly bytes: number;
  readonly bytesBand: number;
  /** Seconds of this machine. */
  readonly seconds: number;
}

/** Default bytes per row of the first table, with its nested rows, by the proof of rows. */
const USUAL_BYTES = { tx_count: 450, links: 120, other: 150 } as const;
/** Default seconds per row. */
const USUAL_SECONDS = { tx_count: 60e-6, links: 15e-6, other: 15e-6 } as const;
/** Rows of a commit. */
const ROWS_A_FILE = 10_000;
/** Minimum rows to infer the bytes of others from. */
const ENOUGH_ROWS = 2000;
/** Uncertainty of bytes, by where they come from. */
const DOUBT = { history: 0.2, sample: 0.35, usual: 0.6 } as const;

export interface WeighingOptions {
  readonly ledger: readonly LedgerEntry[];
  readonly measured: Measured;
  /** Share of the selected tables and columns in the bytes of a row, at most 1. */
  readonly share: number;
}

/** Bytes and time of rows: by the rows in the warehouse, by the sample pages, or by default. */
export function weigh(declared: PipelineDef, rows: number, { ledger, measured, share }: WeighingOptions): Weight {
  const { name, tables, leftOut } = declared;
  const usual = proofOf(declared) ?? 'other';
  const [table] = tables;
  const own = ledger.filter(
    ({ pipeline, verdict, without }) => pipeline === name && verdict === 'sealed' && isSameSelection(without, leftOut),
  );
  const stored = own.reduce((sum, entry) => sum + (entry.tables[table?.name ?? '']?.rows ?? 0), 0);
  const files = own.flatMap((entry) => Object.values(entry.tables).flatMap((part) => part.files));
  const storedBytes = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const { bytes, doubt } = bytesOf(usual, rows, { stored, storedBytes, measured, share });
  const perRow = measured.rows > 0 ? measured.seconds / measured.rows : USUAL_SECONDS[usual];
  return { bytes, bytesBand: bytes * doubt, seconds: rows * perRow };
}

interface Known extends Pick<WeighingOptions, 'measured' | 'share'> {
  readonly stored: number;
  readonly storedBytes: number;
}

function bytesOf(usual: keyof typeof USUAL_BYTES, rows: number, { stored, storedBytes, measured, share }: Known) {
  if (stored >= ENOUGH_ROWS && storedBytes > 0) return { bytes: (rows * storedBytes) / stored, doubt: DOUBT.history };
  if (measured.rows === 0) {
    return { bytes: rows * share * USUAL_BYTES[usual], doubt: DOUBT.usual };
  }
  const files = Math.ceil(rows / ROWS_A_FILE);
  const bytes = files * measured.fixedBytes + rows * measured.bytesPerRow;
  return { bytes, doubt: measured.rows >= ENOUGH_ROWS ? DOUBT.sample : DOUBT.usual };
}

/** Approximate bytes of a value in Parquet: texts and addresses repeat, hashes do not. */
function weightOf({ kind }: ColumnDef): number {
  if (kinds[kind].wire === 'hash-string') return 33;
  const { physical } = kinds[kind];
  if (physical === 'binary') return 60;
  return physical === 'utf8' ? 8 : physical === 'bool' ? 0.2 : 2;
}

/** Share of a pipeline's bytes that a selection keeps. */
export function selectedShare(declared: PipelineDef, selected: PipelineDef): number {
  const weightOfRow = ({ tables }: PipelineDef): number =>
    tables.flatMap(({ columns }) => columns).reduce((sum, column) => sum + weightOf(column), 0);
  return weightOfRow(selected) / weightOfRow(declared);
}
