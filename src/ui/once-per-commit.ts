import type { WarehouseStatus } from '../warehouse/query/status.ts';
import type { OpenWarehouse } from '../warehouse/query/warehouse-registry.ts';

/** A value that only commits change: read again on the first request after a commit. */
export class OncePerCommit<T> {
  readonly #read: (opened: OpenWarehouse) => Promise<T>;
  #known: { readonly state: string; readonly value: T } | undefined;

  constructor(read: (opened: OpenWarehouse) => Promise<T>) {
    this.#read = read;
  }

  readonly of = async (opened: OpenWarehouse): Promise<T> => {
    const state = await stateOfLedger(opened.reader);
    if (this.#known?.state !== state) this.#known = { state, value: await this.#read(opened) };
    return this.#known.value;
  };
}

export type StatusOf = OncePerCommit<WarehouseStatus>;

/** Differs after each commit. */
export async function stateOfLedger(reader: OpenWarehouse['reader']): Promise<string> {
  const [ledger, forgotten] = [await reader.ledger(), await reader.forgotten()];
  return `${ledger.length} ${ledger.at(-1)?.id} ${forgotten.length} ${forgotten.at(-1)?.id}`;
}
