import { createHash } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import type { FileSum, ObjectStore } from './object-store.ts';

/** Size and checksum of an object as it is in the store; undefined if there is none. */
export async function sumObject(store: ObjectStore, key: string): Promise<FileSum | undefined> {
  let hash = createHash('sha256');
  let bytes = 0;
  const isFound = await store.read(key, async () => {
    hash = createHash('sha256');
    bytes = 0;
    return (part) => {
      hash.update(part);
      bytes += part.length;
    };
  });
  return isFound ? { bytes, sha256: hash.digest('hex') } : undefined;
}

/** Writes an object to a new file, not synced yet. @returns undefined if there is none; the file is not there then */
export async function downloadObject(store: ObjectStore, key: string, path: string): Promise<FileSum | undefined> {
  let hash = createHash('sha256');
  let bytes = 0;
  let file: FileHandle | undefined;
  try {
    const isFound = await store.read(key, async () => {
      await file?.close();
      file = await open(path, 'w');
      const own = file;
      hash = createHash('sha256');
      bytes = 0;
      return async (part) => {
        hash.update(part);
        bytes += part.length;
        await own.writeFile(part);
      };
    });
    return isFound ? { bytes, sha256: hash.digest('hex') } : undefined;
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file?.close();
  }
}
