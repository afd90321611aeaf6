import type { WarehouseStatus } from '../warehouse/query/status.ts';
import type { OpenWarehouse } from '../warehouse/query/warehouse-registry.ts';

/** Caches a value that only commits change, and reads it again on the first use after a commit. */
export class CommitCache<T> {
  readonly #read: (opened: OpenWarehouse) => Promise<T>;
  #cached: { readonly state: string; readonly value: T } | undefined;

  constructor(read: (opened: OpenWarehouse) => Promise<T>) {
    this.#read = read;
  }

  readonly get = async (opened: OpenWarehouse): Promise<T> => {
    const state = await stateOfLedger(opened.reader);
    if (this.#cached?.state !== state) this.#cached = { state, value: await this.#read(opened) };
    return this.#cached.value;
  };
}

export type StatusCache = CommitCache<WarehouseStatus>;

/** A text that differs after each commit. */
export async function stateOfLedger(reader: OpenWarehouse['reader']): Promise<string> {
  const [ledger, forgotten] = [await reader.ledger(), await reader.forgotten()];
  return `${ledger.length} ${ledger.at(-1)?.id} ${forgotten.length} ${forgotten.at(-1)?.id}`;
}
