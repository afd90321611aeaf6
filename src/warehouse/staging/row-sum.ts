import type { TableDef } from '../../declare/table.ts';
import { quoteName } from '../../sql/canonical-text.ts';
import type { Query } from '../../sql/query-result.ts';

/**
 * Counts the rows of `relation` (any SQL after FROM), and sums hashes of them over every column: two relations with the same text
 * hold the same rows, in whatever order and files. The hashes are DuckDB's own 64-bit hashes, which take a quarter of the time of
 * `contentHash`. They may differ between versions of DuckDB, so compare the result at once and do not store it.
 */
export async function sumRows(query: Query, table: TableDef, relation: string): Promise<string> {
  const { rows } = await query(`SELECT count(*), ${rowSum(table)} FROM ${relation}`);
  return String(rows[0]);
}

/** SQL for the sum of the hashes alone. */
export function rowSum({ columns }: TableDef): string {
  return `sum(hash(${columns.map(({ name }) => quoteName(name)).join(', ')}))`;
}
