import type { Registry } from '../declare/registry.ts';
import { type DamagedStore, openDamaged } from '../warehouse/index.ts';
import { boundColumn } from './bound-column.ts';

/** A warehouse open for verification. */
export type Held = DamagedStore;

export interface HeldOptions {
  readonly path: string;
  readonly registry: Registry;
  /** Folder for DuckDB's temporary files. */
  readonly spill: string;
  /** DuckDB's memory limit, in megabytes. */
  readonly memoryMb: number;
}

/** @throws {StoreError} `no-warehouse`, `busy`, or `bad-ledger` if it does not say which network it holds */
export async function openHeld({ path, registry, spill, memoryMb }: HeldOptions): Promise<Held> {
  return openDamaged(path, {
    tables: registry.tables,
    ownerOf: (table) => ({
      pipeline: registry.pipelines.find((each) => each.tables.includes(table))?.name ?? '',
      column: boundColumn(registry, table),
    }),
    spill,
    memoryMb,
  });
}
