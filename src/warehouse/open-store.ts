import { StoreError } from '../core/errors.ts';
import type { TableDef } from '../declare/table.ts';
import { guarded } from '../files/file-failure.ts';
import { isObjectUrl } from '../objects/s3-location.ts';
import { Database } from '../sql/database.ts';
import type { DamagedOptions, DamagedStore } from './damaged-store.ts';
import { noWarehouse } from './no-warehouse.ts';
import type { Reader, ReaderOptions } from './reader.ts';
import { joinStore, shareStore } from './share-store.ts';
import type { Store } from './store.ts';
import type { TablesOf } from './store-driver.ts';
import { detectStoreKind, isUnmade, loadDriver, shapeOf } from './store-kinds.ts';
import { type StoreOptions, warehousePath } from './store-options.ts';
import { openedStore } from './warehouse-store.ts';

/**
 * Opens a warehouse for writing. A path that ends in `.duckdb` is a DuckDB file, any other a folder of Parquet files, unless `kind` says
 * otherwise.
 * @throws {StoreError} `wrong-kind` if `kind` contradicts what is at the path; and the errors of the store
 */
export async function openStore(options: OpenStoreOptions): Promise<Store> {
  const { kind } = await requireKind(options.path, options.kind);
  const path = warehousePath(options.path);
  const joined = joinStore(path, options);
  if (joined !== undefined) return joined;
  const { openWriter } = await loadDriver(kind);
  const open = (own: StoreOptions): Promise<Store> =>
    guarded(`warehouse ${path}`, async () => openedStore(await openWriter(path, own), own));
  // A warehouse in an object store takes several writers anyway.
  return options.isShared === true && !isObjectUrl(path) ? shareStore(path, options, open) : open(options);
}

export interface OpenStoreOptions extends StoreOptions {
  readonly kind?: Store['kind'] | undefined;
  /** Lets other work in this process write the warehouse as well, until all of it has closed the warehouse. Default false. */
  readonly isShared?: boolean | undefined;
}

/**
 * The kind of the warehouse at a path. If there is none yet: `kind`, or else by the name.
 * @returns also whether opening the path for writing makes a new warehouse
 * @throws {StoreError} `wrong-kind` when `kind` contradicts what is there
 */
export async function requireKind(
  warehouse: string,
  kind: Store['kind'] | undefined,
): Promise<{ readonly kind: Store['kind']; readonly isNew: boolean }> {
  const path = warehousePath(warehouse);
  const found = await detectStoreKind(path);
  const isFree = !found.exists && !isObjectUrl(path);
  if (kind === undefined || kind === found.kind || isFree) {
    return { kind: kind ?? found.kind, isNew: await isUnmade(path, found) };
  }
  throw new StoreError(`store: warehouse ${path} is ${shapeOf(found.kind, path)}, and cannot be opened as ${kind}`, {
    code: 'wrong-kind',
    hint: 'remove --store, or choose another --warehouse',
  });
}

/**
 * Opens a warehouse for reading. A Parquet warehouse can be read at any moment, also while it is written.
 * @throws {StoreError} `no-warehouse` when nothing is there; `busy` when a writer holds a DuckDB file; `needs-migration`.
 */
export async function openReader(
  path: string,
  tables: readonly TableDef[] | TablesOf,
  options: ReaderOptions = {},
): Promise<Reader> {
  const absolute = warehousePath(path);
  const { kind, exists } = await detectStoreKind(absolute);
  if (!exists) throw noWarehouse(absolute);
  const driver = await loadDriver(kind);
  const tablesOf = typeof tables === 'function' ? tables : async () => tables;
  return guarded(`warehouse ${absolute}`, () => driver.openReader(absolute, tablesOf, options));
}

/**
 * Opens whatever can be read of a warehouse, to be examined and repaired.
 * @throws {StoreError} `no-warehouse`, `busy`, or `bad-ledger` if even its network is unknown
 */
export async function openDamaged(path: string, options: DamagedOptions): Promise<DamagedStore> {
  const absolute = warehousePath(path);
  const { kind, exists } = await detectStoreKind(absolute);
  if (!exists) throw noWarehouse(absolute);
  const driver = await loadDriver(kind);
  const database = await Database.open(':memory:', {
    threads: '2',
    memory_limit: `${options.memoryMb}MB`,
    temp_directory: options.spill,
    enable_external_file_cache: 'false',
    preserve_insertion_order: 'false',
  });
  try {
    return await driver.openDamaged(absolute, database, options);
  } catch (error) {
    database.close();
    throw error;
  }
}
