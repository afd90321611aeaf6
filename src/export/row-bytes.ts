import type { ColumnDef } from '../declare/column.ts';
import { kinds } from '../declare/kind.ts';
import { isSameSelection } from '../declare/left-out.ts';
import { type PipelineDef, proofOf } from '../declare/pipeline.ts';
import type { LedgerEntry } from '../warehouse/index.ts';

/** Usual bytes per row of the first table, with its nested rows, by the proof of rows. */
const USUAL_BYTES = { tx_count: 450, links: 120, other: 150 } as const;
/** Minimum rows in the warehouse to infer the bytes of others from. */
const ENOUGH_ROWS = 2000;

/** Bytes of Parquet for a row of the first table: those of the rows in the warehouse, or the usual ones of what is selected. */
export function bytesOfRow(
  declared: PipelineDef,
  { name, tables, leftOut }: PipelineDef,
  ledger: readonly LedgerEntry[],
): number {
  const own = ledger.filter(
    ({ pipeline, verdict, without }) =>
      pipeline === name && verdict === 'accepted' && isSameSelection(without, leftOut),
  );
  const rows = own.reduce((sum, entry) => sum + (entry.tables[tables[0]?.name ?? '']?.rows ?? 0), 0);
  const files = own.flatMap((entry) => Object.values(entry.tables).flatMap((part) => part.files));
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  if (rows >= ENOUGH_ROWS && bytes > 0) return bytes / rows;
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
