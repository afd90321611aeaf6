import type { StoreDriver } from '../store-driver.ts';
import { openDuckdbReader } from './duckdb-reader.ts';
import { openDuckdbStore } from './duckdb-store.ts';

/** One DuckDB file. */
export const duckdbDriver: StoreDriver = {
  openStore: openDuckdbStore,
  openReader: openDuckdbReader,
};
