import { type CommitPart, type LedgerEntry, PARTIAL } from '../warehouse/index.ts';

/** Rows of each table that must be there again, at least. */
export type LeastRows = Readonly<Record<string, number>>;

/** Rows of a table that a source has now, and that were committed. */
export interface FewerRows {
  readonly table: string;
  readonly rows: number;
  readonly before: number;
}

/** The rows of an entry, as its ledger counts them; none if they are known to be wrong. */
export function leastRows({ verdict, scope, tables }: LedgerEntry): LeastRows {
  if (verdict !== 'accepted' || scope === PARTIAL) return {};
  return Object.fromEntries(Object.entries(tables).map(([name, { rows }]) => [name, rows]));
}

/** The first table of which there are fewer rows. */
export function fewerRows(least: LeastRows, parts: readonly CommitPart[]): FewerRows | undefined {
  for (const [table, before] of Object.entries(least)) {
    const rows = parts.reduce((sum, { staged }) => sum + (staged.tables[table]?.rows ?? 0), 0);
    if (rows < before) return { table, rows, before };
  }
  return undefined;
}
