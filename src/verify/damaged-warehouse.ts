import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Effects, realEffects } from '../core/effects.ts';
import type { Registry } from '../declare/registry.ts';
import { martPipeline } from '../marts/commit-mart.ts';
import { type DamagedStore, openDamaged, type ProvenLedger } from '../warehouse/index.ts';
import { boundColumn } from './bound-column.ts';

interface OpenOptions {
  readonly path: string;
  readonly registry: Registry;
  readonly effects?: Effects | undefined;
  /** DuckDB's memory limit, in megabytes. Default 512. */
  readonly memoryMb?: number | undefined;
  /** See `DamagedOptions`. */
  readonly proven?: ProvenLedger | undefined;
}

/**
 * Opens a possibly damaged warehouse, and closes it after `use`.
 *
 * @throws {StoreError} `no-warehouse`, `busy`, or `bad-ledger` if its network is unknown
 */
export async function withDamagedStore<T>(
  options: OpenOptions,
  use: (warehouse: DamagedStore) => Promise<T>,
): Promise<T> {
  const { path, registry, effects = realEffects, memoryMb = 512, proven } = options;
  const spill = join(tmpdir(), `tonlake-verify-${process.pid}-${effects.freshId()}`);
  const ownerOf: Parameters<typeof openDamaged>[1]['ownerOf'] = (name) => {
    const table = registry.tables.find((each) => each.name === name);
    const { table: headers } = registry.playing('headers');
    const days = { table: headers.name, column: boundColumn(registry, headers) ?? '' };
    if (table === undefined) return { pipeline: martPipeline(name), column: undefined, days };
    const pipeline = registry.pipelines.find((each) => each.tables.includes(table))?.name ?? '';
    return { pipeline, column: boundColumn(registry, table) };
  };
  const warehouse = await openDamaged(path, { tables: registry.tables, ownerOf, spill, memoryMb, proven });
  try {
    return await use(warehouse);
  } finally {
    warehouse.close();
    await rm(spill, { recursive: true, force: true });
  }
}
