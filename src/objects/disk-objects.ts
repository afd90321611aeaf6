import { readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { realEffects } from '../core/effects.ts';
import { ifAny, makeFolder, putIfAbsent, syncPath, writeSynced } from '../files/disk.ts';
import type { ObjectEntry, SmallObjects } from './object-store.ts';

/** Begins the names of files that are not complete. */
const DRAFT = '.draft-';

/** A folder of a local disk as objects. @param root absolute */
export function diskObjects(root: string): SmallObjects {
  const stage = async (path: string, bytes: Uint8Array): Promise<string> => {
    await makeFolder(dirname(path));
    const draft = join(dirname(path), `${DRAFT}${realEffects.freshId()}-${basename(path)}`);
    await writeSynced(draft, bytes);
    return draft;
  };
  return {
    url: root,
    list: async (prefix) => {
      const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1);
      const found = (await listFiles(root, folder)).filter(({ key }) => key.startsWith(prefix));
      return found.sort((a, b) => (a.key < b.key ? -1 : 1));
    },
    folders: async (folder) => {
      const items = (await ifAny(readdir(join(root, folder), { withFileTypes: true }))) ?? [];
      return items.flatMap((item) => (item.isDirectory() ? [item.name] : [])).sort();
    },
    get: (key) => ifAny(readFile(join(root, key))),
    put: async (key, bytes) => {
      const path = join(root, key);
      await rename(await stage(path, bytes), path);
      await syncPath(dirname(path));
    },
    putIfAbsent: async (key, bytes) => {
      const path = join(root, key);
      const draft = await stage(path, bytes);
      if (await putIfAbsent(draft, path)) {
        await syncPath(dirname(path));
        return true;
      }
      await rm(draft, { force: true });
      return (await ifAny(readFile(path)))?.equals(bytes) === true;
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
    const held = item.isFile() ? await ifAny(stat(join(root, key))) : undefined;
    if (held !== undefined) found.push({ key, bytes: held.size, putAt: held.mtimeMs });
  }
  return found;
}
