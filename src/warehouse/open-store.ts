import { StoreError } from '../core/errors.ts';
import { statIfAny } from '../files/disk.ts';
import { guarded } from '../files/file-failure.ts';
import { openDuckdbStore } from './duckdb-store/duckdb-store.ts';
import { openParquetStore } from './parquet-store/parquet-store.ts';
import type { Store } from './store.ts';
import { type StoreOptions, warehousePath } from './store-options.ts';

/** What the warehouse at a path is: what lies there decides, and the name only where nothing does. */
export async function detectStoreKind(
  path: string,
): Promise<{ readonly kind: Store['kind']; readonly exists: boolean }> {
  const found = await guarded(`warehouse ${path}`, () => statIfAny(path));
  if (found !== undefined) return { kind: found.isDirectory() ? 'parquet' : 'duckdb', exists: true };
  return { kind: path.endsWith('.duckdb') ? 'duckdb' : 'parquet', exists: false };
}

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
    const is = found.kind === 'parquet' ? 'a folder' : 'a file';
    throw new StoreError(`store: warehouse ${path} is ${is}, and cannot be opened as ${kind}`, {
      code: 'wrong-kind',
      hint: `leave --store out, or choose another --warehouse`,
    });
  }
  return kind === 'parquet' ? openParquetStore(options) : openDuckdbStore(options);
}
