import { join } from 'node:path';
import { statIfAny } from '../files/disk.ts';
import { guarded } from '../files/file-failure.ts';
import { isObjectUrl } from '../objects/s3-location.ts';
import { IDENTITY, readIdentity } from './ledger/ledger-folder.ts';
import { openBackend } from './open-backend.ts';
import type { Store } from './store.ts';
import type { StoreDriver } from './store-driver.ts';

interface StoreKind {
  /** True if its warehouses are folders, false if they are files. */
  readonly isFolder: boolean;
  /** File extension of new warehouses of this kind; undefined for the kind of all other names. */
  readonly ending: string | undefined;
  /** Loads the code of the store, only when one of its warehouses is opened. */
  readonly load: () => Promise<StoreDriver>;
}

const kinds: Readonly<Record<Store['kind'], StoreKind>> = {
  duckdb: {
    isFolder: false,
    ending: '.duckdb',
    load: async () => (await import('./duckdb-store/duckdb-driver.ts')).duckdbDriver,
  },
  parquet: {
    isFolder: true,
    ending: undefined,
    load: async () => (await import('./parquet-store/files-driver.ts')).filesDriver,
  },
};

const names = Object.keys(kinds) as readonly Store['kind'][];

/** The code for warehouses of a kind. */
export function loadDriver(kind: Store['kind']): Promise<StoreDriver> {
  return kinds[kind].load();
}

interface Detected {
  readonly kind: Store['kind'];
  readonly exists: boolean;
}

/** Kind of the warehouse at a path: by the folder or file there, or by the name if there is none. */
export async function detectStoreKind(path: string): Promise<Detected> {
  if (isObjectUrl(path)) {
    const { objects } = await openBackend(path);
    return { kind: 'parquet', exists: (await readIdentity(objects)) !== undefined };
  }
  const found = await guarded(`warehouse ${path}`, () => statIfAny(path));
  const fits = (kind: Store['kind']): boolean => {
    const { isFolder, ending } = kinds[kind];
    return found === undefined ? ending === undefined || path.endsWith(ending) : isFolder === found.isDirectory();
  };
  return { kind: names.find(fits) ?? 'parquet', exists: found !== undefined };
}

/** True if opening the path for writing creates a warehouse: nothing is there, or a folder that is no warehouse. */
export async function isUnmade(path: string, { kind, exists }: Detected): Promise<boolean> {
  if (!exists || isObjectUrl(path) || !kinds[kind].isFolder) return !exists;
  return (await guarded(`warehouse ${path}`, () => statIfAny(join(path, IDENTITY)))) === undefined;
}

/** `a folder`, `a file` or `in an object store`, for messages. */
export function shapeOf(kind: Store['kind'], path: string): string {
  if (isObjectUrl(path)) return 'in an object store';
  return kinds[kind].isFolder ? 'a folder' : 'a file';
}

/** Folder for records about a warehouse, such as those of its jobs: inside a folder, next to a file. */
export async function recordsFolder(path: string, name: string): Promise<string> {
  const { kind } = await detectStoreKind(path);
  return kinds[kind].isFolder ? join(path, `_${name}`) : `${path}.${name}`;
}
