import { defaultWarehouse } from '../http/network.ts';
import { storedNetwork } from '../warehouse/query/warehouse-registry.ts';

/** Network and warehouse of a function, with the defaults of the command line. */
export interface PlaceOptions {
  /** `mainnet`, `testnet`, `sandbox`, or a base URL. Default: the network of an existing `warehouse`, otherwise `mainnet`. */
  readonly network?: string | undefined;
  /** Folder of Parquet files, `s3://bucket/prefix`, or a path that ends in `.duckdb`. Default `data/<network>`. */
  readonly warehouse?: string | undefined;
}

const DEFAULT_NETWORK = 'mainnet';

/** The named network, that of an existing warehouse, or mainnet. */
export async function networkOf({ network, warehouse }: PlaceOptions): Promise<string> {
  return network ?? (warehouse === undefined ? undefined : await storedNetwork(warehouse)) ?? DEFAULT_NETWORK;
}

export function warehouseOf({ network = DEFAULT_NETWORK, warehouse }: PlaceOptions): string {
  return warehouse ?? defaultWarehouse(network);
}
