import { StoreError } from './errors.ts';
import { loadRegistry } from './registry.ts';
import { requireSameNetwork } from './status.ts';
import { openReader } from './store/reader.ts';
import type { QueryResult } from './store/store.ts';

/**
 * Runs one query over a warehouse.
 *
 * @param network when given, the warehouse must hold it
 * @throws {StoreError} when there is no warehouse or the query is wrong
 */
export async function querySql(warehouse: string, sql: string, network?: string): Promise<QueryResult> {
  const registry = await loadRegistry();
  const reader = await openReader(warehouse, registry.tables);
  try {
    requireSameNetwork(reader.path, reader.network, network);
    return await reader.query(sql).catch((error: unknown) => {
      throw withHint(error);
    });
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
