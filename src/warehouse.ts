import { loadRegistry } from './registry.ts';
import { openReader, type Reader } from './store/reader.ts';

/** A warehouse opened for reading: `query`, `ledger`, `files`. */
export type Warehouse = Reader;

/**
 * Opens a warehouse for reading. A Parquet warehouse can be read at any moment, also while it is written; each call sees what is
 * committed then.
 *
 * @param path folder of Parquet files, or a DuckDB file
 * @throws {StoreError} `no-warehouse` when nothing is there; `busy` when a writer holds a DuckDB file
 */
export async function openWarehouse(path: string): Promise<Warehouse> {
  return openReader(path, (await loadRegistry()).tables);
}
