import { isObjectUrl } from '../objects/s3-location.ts';
import type { DataFiles } from './data-files.ts';
import { openFolderDataFiles } from './parquet-store/folder-data-files.ts';
import type { Store } from './store.ts';
import { warehousePath } from './store-options.ts';

/**
 * Opens the data files of a Parquet warehouse in a folder or in an object store.
 *
 * @param kind expected of a warehouse that does not exist yet; default: by its name
 * @throws {StoreError} `no-files` for a DuckDB warehouse; `no-warehouse`
 */
export async function openDataFiles(warehouse: string, kind?: Store['kind']): Promise<DataFiles> {
  const path = warehousePath(warehouse);
  if (!isObjectUrl(path)) return openFolderDataFiles(path, kind);
  return (await import('./bucket-store/bucket-data-files.ts')).openBucketDataFiles(path);
}
