import { statusIn, type WarehouseStatus } from '../warehouse/query/status.ts';
import type { OpenWarehouse } from '../warehouse/query/warehouse-registry.ts';

/** The status of a warehouse, read again after each commit. */
export class StatusCache {
  #key = '';
  #status: WarehouseStatus | undefined;

  async read({ reader, registry }: OpenWarehouse): Promise<WarehouseStatus> {
    const key = await stateOfLedger(reader);
    if (this.#status === undefined || key !== this.#key) {
      this.#status = await statusIn(reader, registry);
      this.#key = key;
    }
    return this.#status;
  }
}

/** Differs after each commit. */
export async function stateOfLedger(reader: OpenWarehouse['reader']): Promise<string> {
  const [ledger, forgotten] = [await reader.ledger(), await reader.forgotten()];
  return `${ledger.length} ${ledger.at(-1)?.id} ${forgotten.length} ${forgotten.at(-1)?.id}`;
}
