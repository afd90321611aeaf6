import { readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ifAny, listFolder, makeFolder, putIfAbsent, syncPath, writeSynced } from '../files/disk.ts';

/** A folder of small objects, on a disk or in an object store. Names are relative, with forward slashes. */
export interface ObjectFolder {
  /** What readers of any engine call an object. */
  uri(name: string): string;
  /** Undefined if it does not exist. */
  get(name: string): Promise<Buffer | undefined>;
  /** Writes or replaces an object: readers see the old one or the new one, in full. */
  put(name: string, content: Uint8Array | string): Promise<void>;
  /** Writes an object unless it exists. Of several writers, one succeeds. @returns false if it exists */
  putIfAbsent(name: string, content: Uint8Array | string): Promise<boolean>;
  /** Names right in a folder, none if it does not exist. */
  list(folder: string): Promise<readonly string[]>;
  /** When an object was written, in milliseconds since 1970; undefined if it does not exist. */
  writtenAt(name: string): Promise<number | undefined>;
  remove(name: string): Promise<void>;
}

/** Begins the names of files that are not complete. */
const DRAFT = '.draft-';

/**
 * A folder on a local disk.
 *
 * @param root absolute
 * @param shown its path as readers see it
 */
export function diskFolder(root: string, freshId: () => string, shown = root): ObjectFolder {
  const stage = async (name: string, content: Uint8Array | string): Promise<string> => {
    const path = join(root, name);
    await makeFolder(dirname(path));
    const draft = join(dirname(path), `${DRAFT}${freshId()}-${basename(path)}`);
    await writeSynced(draft, content);
    return draft;
  };
  return {
    uri: (name) => `${shown}/${name}`,
    get: (name) => ifAny(readFile(join(root, name))),
    put: async (name, content) => {
      await rename(await stage(name, content), join(root, name));
      await syncPath(dirname(join(root, name)));
    },
    putIfAbsent: async (name, content) => {
      const draft = await stage(name, content);
      const isNew = await putIfAbsent(draft, join(root, name));
      if (isNew) await syncPath(dirname(join(root, name)));
      else await rm(draft, { force: true });
      return isNew;
    },
    list: (folder) => listFolder(join(root, folder)),
    writtenAt: async (name) => (await ifAny(stat(join(root, name))))?.mtimeMs,
    remove: (name) => rm(join(root, name), { force: true }),
  };
}
