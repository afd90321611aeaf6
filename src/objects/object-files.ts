import { createHash } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import type { FileSum, ObjectStore } from './object-store.ts';

/** Computes size and checksum of a stored object; undefined if there is none. */
export async function sumObject(store: ObjectStore, key: string): Promise<FileSum | undefined> {
  return sumParts(store, key, async () => {});
}

/** Downloads an object to a new file, without syncing it. @returns undefined, without a file, if there is none */
export async function downloadObject(store: ObjectStore, key: string, path: string): Promise<FileSum | undefined> {
  let file: FileHandle | undefined;
  try {
    return await sumParts(store, key, async (part) => {
      if (part !== undefined) return file?.writeFile(part);
      await file?.close();
      file = await open(path, 'w');
    });
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file?.close();
  }
}

/** @param take gets undefined at the start, also of another attempt, and then each part of the object */
async function sumParts(
  store: ObjectStore,
  key: string,
  take: (part: Uint8Array | undefined) => Promise<void>,
): Promise<FileSum | undefined> {
  let hash = createHash('sha256');
  let bytes = 0;
  const isFound = await store.read(key, async () => {
    await take(undefined);
    hash = createHash('sha256');
    bytes = 0;
    return (part) => {
      hash.update(part);
      bytes += part.length;
      return take(part);
    };
  });
  return isFound ? { bytes, sha256: hash.digest('hex') } : undefined;
}
