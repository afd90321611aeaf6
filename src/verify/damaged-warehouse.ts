import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Effects, realEffects } from '../core/effects.ts';
import { isOutOfMemory, StoreError, shortMessage } from '../core/errors.ts';
import { suggest } from '../core/suggest.ts';
import type { Registry } from '../declare/registry.ts';
import { martPipeline } from '../marts/commit-mart.ts';
import { type DamagedStore, openDamaged, type ProvenLedger } from '../warehouse/index.ts';
import { boundColumn } from './bound-column.ts';

interface OpenOptions {
  readonly path: string;
  readonly registry: Registry;
  readonly effects?: Effects | undefined;
  /** DuckDB's memory limit, in megabytes. Default 256. */
  readonly memoryMb?: number | undefined;
  /** As in `DamagedOptions`. */
  readonly proven?: ProvenLedger | undefined;
}

/**
 * Opens a warehouse that may be damaged, and closes it after `use`.
 *
 * @throws {StoreError} `no-warehouse`, `busy`, `bad-ledger` if it does not say which network it holds, or `out-of-memory`
 */
export async function withDamagedStore<T>(
  options: OpenOptions,
  use: (warehouse: DamagedStore) => Promise<T>,
): Promise<T> {
  const { path, registry, effects = realEffects, memoryMb = 256, proven } = options;
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
  } catch (error) {
    if (!isOutOfMemory(error)) throw error;
    // By default, audits had up to 2 GB already.
    const enoughMb = options.memoryMb === undefined ? 4096 : options.memoryMb * 4;
    const more = suggest('verify', `--memory ${enoughMb}`, { warehouse: path });
    throw new StoreError(`store ${path}: expected enough memory to compare its rows, got ${shortMessage(error)}`, {
      ...{ code: 'out-of-memory', hint: `${more} allows more; --range verifies a part of it`, cause: error },
    });
  } finally {
    warehouse.close();
    await rm(spill, { recursive: true, force: true });
  }
}
