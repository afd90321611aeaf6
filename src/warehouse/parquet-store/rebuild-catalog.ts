import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { realEffects } from '../../core/effects.ts';
import { StoreError } from '../../core/errors.ts';
import { shellWord } from '../../core/shell-word.ts';
import { suggest } from '../../core/suggest.ts';
import { guarded } from '../../files/file-failure.ts';
import { isObjectUrl } from '../../objects/s3-location.ts';
import { layoutOf } from '../ledger/ledger-folder.ts';
import { type OpenStoreOptions, openStore } from '../open-store.ts';
import type { Store } from '../store.ts';

interface CatalogOptions extends Pick<Store, 'path' | 'kind'> {
  readonly network: string;
  readonly registry: Pick<OpenStoreOptions, 'tables' | 'pipelines'>;
}

/**
 * Rebuilds the catalog of a Parquet warehouse, for example after a move. A DuckDB warehouse is its own catalog.
 *
 * @returns path of the catalog
 * @throws {StoreError} for an object store; `busy` while a run writes the warehouse, which keeps the catalog current anyway
 */
export async function rebuildCatalog({ path, kind, network, registry }: CatalogOptions): Promise<string> {
  if (isObjectUrl(path)) throw noCatalog(path);
  if (kind === 'duckdb') return path;
  const { tables, pipelines } = registry;
  // Damage inside the file does not change its size and time.
  await guarded(`warehouse ${path}`, () => rm(layoutOf(path).catalogStamp, { force: true }));
  const store = await openStore({
    path,
    network,
    tables,
    pipelines,
    effects: realEffects,
    kind,
    command: 'tonlake publish duckdb',
  });
  await store.close();
  return layoutOf(path).catalog;
}

function noCatalog(warehouse: string): StoreError {
  return new StoreError(`store: ${warehouse} is in an object store, where no warehouse has a catalog file`, {
    hint: `query it as it is, or a copy in a folder: ${suggest('copy', `${shellWord(warehouse)} ${shellWord(basename(warehouse))}`)}`,
  });
}
