import { type CommitPart, type LedgerEntry, PARTIAL } from '../warehouse/index.ts';

/** Minimum rows by table that a new reading must have. */
export type LeastRows = Readonly<Record<string, number>>;

/** A table with fewer rows at the source now than were committed before. */
export interface FewerRows {
  readonly table: string;
  readonly rows: number;
  readonly before: number;
}

/** Row counts of a ledger entry; none if its rows are known to be wrong. */
export function leastRows({ verdict, scope, tables }: LedgerEntry): LeastRows {
  if (verdict !== 'accepted' || scope === PARTIAL) return {};
  return Object.fromEntries(Object.entries(tables).map(([name, { rows }]) => [name, rows]));
}

/** The first table with fewer rows than before. */
export function fewerRows(least: LeastRows, parts: readonly CommitPart[]): FewerRows | undefined {
  for (const [table, before] of Object.entries(least)) {
    const rows = parts.reduce((sum, { staged }) => sum + (staged.tables[table]?.rows ?? 0), 0);
    if (rows < before) return { table, rows, before };
  }
  return undefined;
}
