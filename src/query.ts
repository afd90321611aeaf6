import { StoreError } from './errors.ts';
import { loadRegistry } from './registry.ts';
import { requireSameNetwork } from './status.ts';
import { openReader } from './store/reader.ts';
import type { QueryResult } from './store/store.ts';
import { findGaps } from './warehouse.ts';

export interface QueryOptions {
  /** When given, the warehouse must hold it. */
  readonly network?: string | undefined;
  /** Refuses a query over tables that are not whole, instead of warning. */
  readonly strict?: boolean | undefined;
  /** Values of named parameters, `$account` in the query: bound, and never part of its text. They are texts; the query casts them. */
  readonly params?: Readonly<Record<string, string>> | undefined;
  /** Told of tables of the query that are not whole. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/**
 * Runs one query over a warehouse.
 *
 * @throws {StoreError} when there is no warehouse or the query is wrong
 * @throws {AuditError} `not-whole` with `strict`, when a table of the query has gaps
 */
export async function querySql(warehouse: string, sql: string, options: QueryOptions = {}): Promise<QueryResult> {
  const registry = await loadRegistry();
  const reader = await openReader(warehouse, registry.tables);
  try {
    requireSameNetwork(reader.path, reader.network, options.network);
    const gaps = await findGaps(reader, registry, sql, options.strict);
    const result = await reader.query(sql, options.params).catch((error: unknown) => {
      throw withHint(error);
    });
    for (const gap of gaps) options.onWarning?.(gap);
    return result;
  } finally {
    await reader.close();
  }
}

/** DuckDB says what is wrong with a query, but not where the names are. */
function withHint(error: unknown): unknown {
  if (!(error instanceof StoreError) || error.hint !== undefined) return error;
  const hint = 'tonlake describe shows tables and columns';
  return new StoreError(error.message, { code: error.code, hint, cause: error.cause });
}
