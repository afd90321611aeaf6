import { isQuantity } from '../declare/column.ts';
import type { Registry } from '../declare/registry.ts';
import type { TableDef } from '../declare/table.ts';
import { isNumberType } from '../sql/number-type.ts';
import { ownRelations } from '../warehouse/query/state-relations.ts';
import { loadMarts } from './load-marts.ts';

/**
 * Column names of all relations of a query: tables, their views, marts, and relations about the warehouse.
 *
 * @param built undeclared tables of the warehouse
 */
export async function relationColumns(
  registry: Registry,
  built: readonly TableDef[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const columns = new Map<string, readonly string[]>(
    ownRelations.map((own) => [own.name, own.columns.map(({ name }) => name)]),
  );
  for (const { name, columns: own, views } of await tablesOf(registry, built)) {
    const names = own.map((column) => column.name);
    columns.set(name, names);
    for (const view of views) columns.set(view.name, [...names, ...Object.keys(view.adds ?? {})]);
  }
  return columns;
}

async function tablesOf(registry: Registry, built: readonly TableDef[]): Promise<readonly TableDef[]> {
  const marts = await loadMarts(registry);
  return [...registry.tables, ...marts.map(({ table }) => table), ...built];
}

/** Types of sums, counts and shares. */
const WIDE = /^(U?BIGINT|U?HUGEINT|DECIMAL\(.*\)|FLOAT|DOUBLE)$/;
/** Aggregates that return a value of their column, in DuckDB's column names: `max(lt)`. */
const CHOSEN = /^(?:min|max|first|last|any_value|arg_min|arg_max)\("?(\w+)"?[,)]/;

/**
 * Returns a predicate for result columns that are quantities: by the declared column of the same name (not a quantity if one declaration says
 * so), otherwise by the type.
 */
export async function quantityRule(
  registry: Registry,
): Promise<(column: { readonly name: string; readonly type: string }) => boolean> {
  const declared = new Map<string, boolean>(
    ownRelations.flatMap(({ columns }) => columns.map(({ name, unit }) => [name, unit === undefined])),
  );
  for (const column of (await tablesOf(registry, [])).flatMap(({ columns }) => columns))
    declared.set(column.name, isQuantity(column) && declared.get(column.name) !== false);
  return ({ name, type }) => isNumberType(type) && (declared.get(CHOSEN.exec(name)?.[1] ?? name) ?? WIDE.test(type));
}

/** Functions that a query can call, macros included. */
export const FUNCTION_NAMES = String.raw`SELECT DISTINCT function_name FROM duckdb_functions() WHERE regexp_full_match(function_name, '[a-z]\w+')`;

export const KEYWORDS = 'SELECT keyword_name FROM duckdb_keywords()';
