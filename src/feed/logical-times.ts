import { type Span, subtractSpans, unionSpans } from '../core/span.ts';
import type { TableDef } from '../declare/table.ts';
import { columnOf, quoteName } from '../sql/canonical-text.ts';
import { type LedgerEntry, spansOf } from '../warehouse/index.ts';
import type { FollowedTables } from './followed-tables.ts';

/** A subset of the rows of some entries. */
export interface RowLimits {
  /** SQL conditions by table. */
  readonly conditions: ReadonlyMap<string, string>;
  /** Number of rows by table; undefined if unknown. */
  readonly rows: ReadonlyMap<string, number> | undefined;
}

/** Entries that have the newest rows of at least one block. @param entries oldest first */
export function newestEntries(entries: readonly LedgerEntry[]): readonly LedgerEntry[] {
  const newest: LedgerEntry[] = [];
  let later: readonly Span[] = [];
  for (const entry of entries.toReversed()) {
    const own = spansOf(entry);
    if (subtractSpans(own, later).length > 0) newest.push(entry);
    later = unionSpans([...later, ...own]);
  }
  return newest.reverse();
}

/**
 * Finds rows inside a merged entry by the bounds that the ledger has of the original entries. Entries of a list that is read by logical time
 * have disjoint times.
 *
 * @param spans blocks of the wanted rows
 * @returns undefined if the bounds do not separate the rows from others
 */
export function byLogicalTime(
  { pipeline, tables }: FollowedTables,
  spans: readonly Span[],
  entries: readonly LedgerEntry[],
): RowLimits | undefined {
  if (pipeline.walk.kind !== 'lt') return undefined;
  const own = newestEntries(entries).filter((entry) => subtractSpans(spansOf(entry), spans).length === 0);
  if (subtractSpans(spans, unionSpans(own.flatMap(spansOf))).length > 0) return undefined;
  const conditions = new Map<string, string>();
  const rows = new Map<string, number>();
  for (const table of tables) {
    const condition = conditionOf(table, own);
    if (condition === undefined) return undefined;
    conditions.set(table.name, condition);
    rows.set(
      table.name,
      own.reduce((sum, entry) => sum + (entry.tables[table.name]?.rows ?? 0), 0),
    );
  }
  return { conditions, rows };
}

/** The logical-time column by which a table is sorted; undefined if it is sorted by another column. */
export function timeColumn(table: TableDef): string | undefined {
  const [leading = ''] = table.sort;
  return columnOf(table, leading).unit === 'lt' ? leading : undefined;
}

function conditionOf(table: TableDef, entries: readonly LedgerEntry[]): string | undefined {
  const leading = timeColumn(table);
  if (leading === undefined) return undefined;
  const ranges: string[] = [];
  for (const { files } of entries.flatMap((entry) => entry.tables[table.name] ?? [])) {
    for (const { rows, bounds } of files) {
      const [least, greatest] = bounds[leading] ?? [null, null];
      if (rows === 0) continue;
      if (least === null || greatest === null) return undefined;
      ranges.push(`(${BigInt(least)}, ${BigInt(greatest)})`);
    }
  }
  if (ranges.length === 0) return 'false';
  return `EXISTS (SELECT 1 FROM (VALUES ${ranges.join(', ')}) AS t(lt_from, lt_to)
    WHERE ${quoteName(leading)} BETWEEN lt_from AND lt_to)`;
}
