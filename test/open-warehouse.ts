import type { Reader } from '../src/warehouse/index.ts';
import * as warehouseRegistry from '../src/warehouse/query/warehouse-registry.ts';

/** Opens a warehouse with all its tables, as the parts of the program do: ledger, files and plain queries. */
export async function openWarehouse(path: string): Promise<Reader> {
  return (await warehouseRegistry.openWarehouse(path)).reader;
}
