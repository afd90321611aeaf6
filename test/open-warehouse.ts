import { openReader, type Reader } from '../src/warehouse/index.ts';
import { warehouseRegistry } from '../src/warehouse/query/warehouse-registry.ts';

/** Opens a warehouse with all its tables, as the parts of the program do: ledger, files and plain queries. */
export async function openWarehouse(path: string): Promise<Reader> {
  return openReader(path, (await warehouseRegistry(path)).tables);
}
