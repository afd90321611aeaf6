import { readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { realEffects } from '../core/effects.ts';
import { failedWith } from '../core/failed-with.ts';
import { ifAny, listFolder, makeFolder, putIfAbsent, stateOf, syncPath, writeSynced } from '../files/disk.ts';
import { SmallFiles } from '../files/small-files.ts';
import type { ObjectEntry, WarehouseObjects } from './object-store.ts';

/** Prefix of incomplete files. */
const DRAFT = '.draft-';
/** Attempts to put a file: a writer that opens the warehouse may clear the drafts. */
const PUT_ATTEMPTS = 5;

/**
 * A folder of a local disk as objects.
 *
 * @param root absolute
 * @param drafts folder of incomplete files, on the same file system. Default: next to the object
 */
export function diskObjects(root: string, drafts?: string): WarehouseObjects {
  const small = new SmallFiles();
  /** Folders that are synced with their parents below the root: their creator may have been killed before it synced them. */
  const synced = new Set<string>();
  const settle = async (folder: string): Promise<void> => {
    await makeFolder(folder);
    for (let at = folder; !synced.has(at) && at.startsWith(`${root}/`); at = dirname(at)) await syncPath(dirname(at));
    synced.add(folder);
  };
  // Called for many thousand entries, and `join` takes longer than the rest.
  const get = (key: string) => small.read(`${root}/${key}`);
  /** Writes a draft and renames it. Retries if a writer of the warehouse clears the folder of drafts meanwhile. */
  const publish = async <T>(path: string, bytes: Uint8Array, name: (draft: string) => Promise<T>): Promise<T> => {
    const folder = drafts ?? dirname(path);
    for (let attempt = 1; ; attempt++) {
      const draft = join(folder, `${DRAFT}${realEffects.freshId()}-${basename(path)}`);
      try {
        await makeFolder(folder);
        await settle(dirname(path));
        await writeSynced(draft, bytes);
        return await name(draft);
      } catch (error) {
        if (attempt === PUT_ATTEMPTS || !failedWith(error, 'ENOENT')) throw error;
      }
    }
  };
  const put = async (key: string, bytes: Uint8Array): Promise<void> => {
    const path = join(root, key);
    await publish(path, bytes, (draft) => rename(draft, path));
    await syncPath(dirname(path));
  };
  const putOrGet = async (key: string, bytes: Uint8Array): Promise<Uint8Array | undefined> => {
    const path = join(root, key);
    const isPut = await publish(path, bytes, async (draft) => {
      if (await putIfAbsent(draft, path)) return true;
      await rm(draft, { force: true });
      return false;
    });
    // The writer of the other one may have been killed before it synced the folder.
    await syncPath(dirname(path));
    if (isPut) return undefined;
    const other = await get(key);
    // It may have been removed since.
    if (other === undefined) return putOrGet(key, bytes);
    return other.equals(bytes) ? undefined : other;
  };
  return {
    url: root,
    get,
    put,
    names: (folder) => listFolder(join(root, folder)),
    stateOf: (folder) => stateOf(join(root, folder)),
    list: async (prefix) => {
      const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1);
      const found = (await listFiles(root, folder)).filter(({ key }) => key.startsWith(prefix));
      return found.sort((a, b) => (a.key < b.key ? -1 : 1));
    },
    folders: async (folder) => {
      const items = (await ifAny(readdir(join(root, folder), { withFileTypes: true }))) ?? [];
      return items.flatMap((item) => (item.isDirectory() ? [item.name] : [])).sort();
    },
    putOrGet,
    // The writer lock keeps other processes away.
    putInPlaceOf: async (key, before, bytes) => {
      if ((await get(key))?.equals(before) !== true) return false;
      await put(key, bytes);
      return true;
    },
    remove: async (keys) => {
      for (const key of keys) await rm(join(root, key), { force: true });
    },
  };
}

/** The files below a folder, which ends with a slash or is empty. */
async function listFiles(root: string, folder: string): Promise<ObjectEntry[]> {
  const found: ObjectEntry[] = [];
  for (const item of (await ifAny(readdir(join(root, folder), { withFileTypes: true }))) ?? []) {
    const key = folder + item.name;
    if (item.isDirectory()) found.push(...(await listFiles(root, `${key}/`)));
    // Another process may have removed it since.
    const stats = item.isFile() ? await ifAny(stat(join(root, key))) : undefined;
    if (stats !== undefined) found.push({ key, bytes: stats.size, putAt: stats.mtimeMs });
  }
  return found;
}
