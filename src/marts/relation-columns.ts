import type { Registry } from '../declare/registry.ts';
import type { TableDef } from '../declare/table.ts';
import { COMMITS, commitColumns } from '../warehouse/index.ts';
import { loadMarts } from './load-marts.ts';

/** Names of the columns of all that a query can name: tables, their views, marts and the ledger. `built`: tables of the warehouse beside the declared ones. */
export async function relationColumns(
  registry: Registry,
  built: readonly TableDef[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const marts = await loadMarts(registry);
  const columns = new Map<string, readonly string[]>([[COMMITS, commitColumns.map(({ name }) => name)]]);
  for (const { name, columns: own, views } of [...registry.tables, ...marts.map(({ table }) => table), ...built]) {
    const names = own.map((column) => column.name);
    columns.set(name, names);
    for (const view of views) columns.set(view.name, [...names, ...Object.keys(view.adds ?? {})]);
  }
  return columns;
}

/** Functions that a query can call, macros included. */
export const FUNCTION_NAMES = String.raw`SELECT DISTINCT function_name FROM duckdb_functions() WHERE regexp_full_match(function_name, '[a-z]\w+')`;

export const KEYWORDS = 'SELECT keyword_name FROM duckdb_keywords()';
