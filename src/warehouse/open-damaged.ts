import { Database } from '../sql/database.ts';
import type { DamagedOptions, DamagedStore } from './damaged-store.ts';
import { noWarehouse } from './no-warehouse.ts';
import { detectStoreKind, loadDriver } from './store-kinds.ts';
import { warehousePath } from './store-options.ts';

/**
 * Opens whatever can be read of a warehouse, to be looked at and repaired.
 * @throws {StoreError} `no-warehouse`, `busy`, or `bad-ledger` if even its network is unknown
 */
export async function openDamaged(path: string, options: DamagedOptions): Promise<DamagedStore> {
  const absolute = warehousePath(path);
  const { kind, exists } = await detectStoreKind(absolute);
  if (!exists) throw noWarehouse(absolute);
  const driver = await loadDriver(kind);
  const database = await Database.open(':memory:', {
    threads: '2',
    memory_limit: `${options.memoryMb}MB`,
    temp_directory: options.spill,
    enable_external_file_cache: 'false',
    preserve_insertion_order: 'false',
  });
  try {
    return await driver.openDamaged(absolute, database, options);
  } catch (error) {
    database.close();
    throw error;
  }
}
