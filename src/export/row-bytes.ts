import type { ColumnDef } from '../declare/column.ts';
import { kinds } from '../declare/kind.ts';
import { isSameSelection } from '../declare/left-out.ts';
import { type PipelineDef, proofOf } from '../declare/pipeline.ts';
import type { LedgerEntry } from '../warehouse/index.ts';

/** Usual bytes per row of the first table, with its nested rows, in large files, by the proof of rows. */
const USUAL_BYTES = { tx_count: 470, links: 90, other: 150 } as const;
/**
 * Minimum rows of a file to infer the bytes of others from: values repeat less in small ones, which `compact` merges later. A row of
 * transactions takes 693 bytes in a file of 1,000, 494 of 16,000, and 469 of 64,000.
 */
const ENOUGH_ROWS = 10_000;

/** Bytes of Parquet per row of the first table: measured on large files of the warehouse, or estimated from the selected columns. */
export function bytesOfRow(
  declared: PipelineDef,
  { name, tables, leftOut }: PipelineDef,
  ledger: readonly LedgerEntry[],
): number {
  let [rows, bytes] = [0, 0];
  for (const entry of ledger) {
    const first = entry.tables[tables[0]?.name ?? ''];
    const isOwn = entry.pipeline === name && entry.verdict === 'accepted' && isSameSelection(entry.without, leftOut);
    if (!isOwn || first === undefined || first.rows < ENOUGH_ROWS * Math.max(1, first.files.length)) continue;
    rows += first.rows;
    for (const { files } of Object.values(entry.tables)) bytes += files.reduce((sum, file) => sum + file.bytes, 0);
  }
  if (bytes > 0) return bytes / rows;
  const weightOf = (defs: PipelineDef['tables']): number =>
    defs.flatMap(({ columns }) => columns).reduce((sum, column) => sum + weightOfValue(column), 0);
  return USUAL_BYTES[proofOf(declared) ?? 'other'] * (weightOf(tables) / weightOf(declared.tables));
}

/** Approximate bytes of a value in Parquet: texts and addresses repeat, hashes do not. */
function weightOfValue({ kind }: ColumnDef): number {
  const { wire, physical } = kinds[kind];
  if (wire === 'hash-string') return 33;
  if (physical === 'binary') return 60;
  return physical === 'utf8' ? 8 : physical === 'bool' ? 0.2 : 2;
}
