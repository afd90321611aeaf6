import type { StoreDriver } from '../store-driver.ts';
import { openParquetReader } from './parquet-reader.ts';
import { openParquetStore } from './parquet-store.ts';

/** A folder of Parquet files. */
export const parquetDriver: StoreDriver = {
  openStore: openParquetStore,
  openReader: openParquetReader,
};
