import { StoreError } from '../core/errors.ts';
import type { Store } from './store.ts';
import { detectStoreKind, loadDriver, shapeOf } from './store-kinds.ts';
import { type StoreOptions, warehousePath } from './store-options.ts';

/**
 * Opens a warehouse for writing: a path that ends in `.duckdb` is the one-file store, any other a folder of Parquet files,
 * unless `kind` says otherwise.
 * @throws {StoreError} `wrong-kind` when `kind` contradicts what lies at the path, and as the two stores say.
 */
export async function openStore(options: StoreOptions & { readonly kind?: Store['kind'] }): Promise<Store> {
  const path = warehousePath(options.path);
  const found = await detectStoreKind(path);
  const kind = options.kind ?? found.kind;
  if (found.exists && kind !== found.kind) {
    throw new StoreError(`store: warehouse ${path} is ${shapeOf(found.kind)}, and cannot be opened as ${kind}`, {
      code: 'wrong-kind',
      hint: `remove --store, or choose another --warehouse`,
    });
  }
  return (await loadDriver(kind)).openStore(options);
}
