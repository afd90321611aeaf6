import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { contentHash } from '../../src/audit/content-hash.ts';
import { realEffects } from '../../src/core/effects.ts';
import { type CompactOptions, compactWarehouse } from '../../src/warehouse/compaction/compact.ts';
import { openReader } from '../../src/warehouse/open-store.ts';
import { items, parts } from './tables.ts';
import { countItems, freshPath, killOwner } from './warehouses.ts';

export const tables = [items, parts];

export function compact(warehouse: string, more: Partial<CompactOptions> = {}) {
  return compactWarehouse({ warehouse, tables, pipelines: [], effects: realEffects, ...more });
}

/** Compacts a warehouse. @returns a copy from each step, as a kill would leave it */
export async function compactKilled(path: string): Promise<readonly string[]> {
  const copies: string[] = [];
  const onStep = async (): Promise<void> => {
    const copy = freshPath('parquet');
    await cp(path, copy, { recursive: true });
    await killOwner(join(copy, '_lock'));
    copies.push(copy);
  };
  await compact(path, { onStep });
  return copies;
}

export async function hashes(path: string) {
  const reader = await openReader(path, tables);
  try {
    return [await contentHash(reader.query, items), await contentHash(reader.query, parts), await countItems(reader)];
  } finally {
    await reader.close();
  }
}
