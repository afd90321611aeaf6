import { openReader } from '../open-store.ts';
import type { Reader } from '../reader.ts';
import { requireCopiesOutside } from './copy-targets.ts';
import { defineBodies } from './define-bodies.ts';
import { QueryCoverage } from './query-coverage.ts';
import { warehouseRegistry } from './warehouse-registry.ts';

/** A warehouse opened for reading: `query`, `ledger`, `files`. */
export type Warehouse = Reader;

/** What happens when a query reads what is missing: tables that were never exported, blocks or columns that are not there, stale marts. */
export interface WarehouseOptions {
  /** Refuses such a query. Default false: it warns. */
  readonly strict?: boolean | undefined;
  /** Told once of each thing that is missing; default a warning of the process, on stderr. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/**
 * Opens a warehouse for reading. A Parquet warehouse can be read at any moment, also while it is written; each call sees what is
 * committed then.
 *
 * @param path folder of Parquet files, or a DuckDB file
 * @throws {StoreError} `no-warehouse` when nothing is there; `busy` when a writer holds a DuckDB file
 * @throws {AuditError} `missing`, by `query`, with `strict`
 */
export async function openWarehouse(path: string, options: WarehouseOptions = {}): Promise<Warehouse> {
  const registry = await warehouseRegistry(path);
  const reader = await openReader(path, registry.tables);
  const coverage = new QueryCoverage(reader, registry);
  const told = new Set<string>();
  return {
    ...reader,
    query: async (given, parameters) => {
      await requireCopiesOutside(reader.path, given);
      const sql = await defineBodies(coverage, given);
      const lacks = await coverage.lacks(sql, parameters, options.strict);
      const result = await reader.query(sql, parameters);
      for (const line of lacks.filter((message) => !told.has(message))) {
        told.add(line);
        warn(line, options.onWarning);
      }
      return result;
    },
    close: async () => {
      await coverage.close();
      await reader.close();
    },
  };
}

function warn(message: string, onWarning: WarehouseOptions['onWarning']): void {
  if (onWarning === undefined) process.emitWarning(message, { code: 'TONLAKE_MISSING' });
  else onWarning(message);
}
