import { copyFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { realEffects } from '../../core/effects.ts';
import { StoreError } from '../../core/errors.ts';
import { missingFile } from '../../files/damaged-data.ts';
import { ifAny, makeFolder, statIfAny, syncPath } from '../../files/disk.ts';
import { guarded } from '../../files/file-failure.ts';
import { takeLock } from '../../files/writer-lock.ts';
import { Instance } from '../../sql/instance.ts';
import type { Backend } from '../backend.ts';
import { publishedNumbers } from '../garbage/published-entries.ts';
import { folderObjects, LedgerFolder, layoutOf } from '../ledger/ledger-folder.ts';
import { readerSettings } from '../reader-settings.ts';
import type { TableFile } from '../store.ts';
import { pathsIn, requireCommitted, sumFile } from './entry-files.ts';
import { FolderWrites } from './folder-writes.ts';
import { pinFile, pinnedPath, placeOf, relocationIn, restoreFile } from './pinned-files.ts';

/** {@link Backend} of a folder. @param path absolute */
export function folderBackend(path: string): Backend {
  const { lock, stage } = layoutOf(path);
  const pathOf = pathsIn(path);
  return {
    path,
    isShared: false,
    objects: folderObjects(path),
    ledger: () => new LedgerFolder(path),
    lock: (command, effects) => takeLock({ path: lock, subject: `warehouse ${path}`, command, effects }),
    pathOf,
    relocation: relocationIn(path),
    access: () => async () => {},
    openReads: () => {
      // The cache keeps 32 KB of each file that was ever read; the system caches local files anyway.
      const instance = new Instance({ ...readerSettings(), enable_external_file_cache: 'false' });
      return { instance, close: () => instance.close() };
    },
    sizeOf: async (file) => (await statIfAny(join(path, file)))?.size,
    sumOf: async (file) => (await findFile(path, file))?.sum,
    download: (file) => findFile(path, file),
    put: async (file, local) => {
      const draft = join(stage, `copy-${realEffects.freshId()}`);
      const to = join(path, file.path);
      try {
        await copyFile(local, draft);
        await syncPath(draft);
        requireCommitted(path, file, await sumFile(draft));
        await makeFolder(dirname(to));
        await rename(draft, to);
        await syncPath(dirname(to));
      } finally {
        await rm(draft, { force: true });
      }
    },
    openWrites: async (ledger, options) => new FolderWrites(path, ledger, options),
    requireWritable: () => requireFolder(path),
    requireQueries: async () => {},
    restore: async (paths) => {
      const moved = paths.filter((file) => placeOf(path, file) === join(path, pinnedPath(file)));
      const isPublished = moved.length > 0 && (await publishedNumbers(folderObjects(path))).length > 0;
      for (const file of moved) await restoreFile(path, file, isPublished);
      for (const folder of new Set(moved.map(dirname))) await syncPath(join(path, folder));
    },
    stablePathOf: pinnedPath,
    pin: (files) =>
      guarded(`warehouse ${path}`, async () => {
        // The writer of the last entry may have been killed before the sync.
        await syncPath(layoutOf(path).ledger);
        // So may a publisher that has created a folder.
        const folders = new Set([path]);
        for (const file of files) {
          for (let folder = await requirePinned(path, file); !folders.has(folder); folder = dirname(folder))
            folders.add(folder);
        }
        for (const folder of folders) await syncPath(folder);
      }),
  };
}

/** A data file, wherever it lies now. */
async function findFile(warehouse: string, file: string): ReturnType<Backend['download']> {
  const local = placeOf(warehouse, file);
  const sum = await ifAny(sumFile(local));
  if (sum !== undefined) return { local, sum };
  // It may just have been superseded, and moved.
  return placeOf(warehouse, file) === local ? undefined : findFile(warehouse, file);
}

/** Makes the folders of a warehouse. @throws {StoreError} `wrong-path` */
async function requireFolder(path: string): Promise<void> {
  if ((await statIfAny(path))?.isDirectory() === false) {
    throw new StoreError(`store: warehouse ${path} is a file, not a folder`, {
      code: 'wrong-path',
      hint: 'choose another --warehouse, or use the extension .duckdb for a DuckDB warehouse',
    });
  }
  const { stage, ledger, tables } = layoutOf(path);
  for (const folder of [stage, ledger, tables]) await makeFolder(folder);
}

/** Pins a file. @returns the folder of its stable path */
async function requirePinned(warehouse: string, { path }: TableFile): Promise<string> {
  const isPinned = await ifAny(pinFile(warehouse, path));
  if (isPinned === undefined) throw missingFile(warehouse, path);
  if (isPinned) return dirname(join(warehouse, pinnedPath(path)));
  throw new StoreError(
    `store: warehouse ${warehouse} is on a file system without hard links, where superseded files change their paths`,
    {
      hint: 'move it to another file system: its tables can be published there',
    },
  );
}
