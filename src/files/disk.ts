import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { link, open, readdir, rename, rm, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { failedWith } from '../core/failed-with.ts';
import { makeFolders } from './make-folders.ts';

/** True if a link failed because the file system has no hard links, such as exFAT and some network shares. */
export function lacksLinks(error: unknown): boolean {
  return failedWith(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS');
}

/** Undefined if `path` does not exist. */
export async function statIfAny(path: string) {
  return ifAny(stat(path));
}

/**
 * Identity and time of change of a file or folder; undefined if it does not exist. They differ in a copy. A folder changes when a file is
 * added, removed or renamed in it, but not when one is changed in place.
 */
export function stateOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.ino} ${found.ctimeNs}`;
}

/** Names in a folder; none if it does not exist. */
export async function listFolder(path: string): Promise<readonly string[]> {
  return (await ifAny(readdir(path))) ?? [];
}

/** The value, or undefined if the file does not exist. */
export async function ifAny<T>(value: Promise<T>): Promise<T | undefined> {
  try {
    return await value;
  } catch (error) {
    if (failedWith(error, 'ENOENT')) return undefined;
    throw error;
  }
}

const SMALL_BYTES = 1 << 20;

/** SHA-256 of a file's bytes, 64 hex digits. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  // A stream takes ten times as long as a small file that was just written or will be read next.
  if (statSync(path).size <= SMALL_BYTES) return hash.update(readFileSync(path)).digest('hex');
  for await (const chunk of createReadStream(path, { highWaterMark: SMALL_BYTES })) hash.update(chunk);
  return hash.digest('hex');
}

/** Flushes a file or folder to disk. */
export async function syncPath(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } catch (error) {
    // Some file systems cannot sync folders, and there is no alternative.
    if (!failedWith(error, 'EINVAL', 'EPERM', 'ENOTSUP', 'EISDIR')) throw error;
  } finally {
    await file.close();
  }
}

/** Writes a new file and flushes it to disk. If that fails, the file is removed. */
export async function writeSynced(path: string, content: string | Uint8Array): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await file.writeFile(content);
    await file.sync();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

/** Renames a complete file to `to` if that does not exist, atomically. @returns false if it does */
export async function putIfAbsent(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
  } catch (error) {
    if (failedWith(error, 'EEXIST')) return false;
    if (!lacksLinks(error)) throw error;
    // The writer lock keeps other processes away.
    if ((await statIfAny(to)) !== undefined) return false;
    await rename(from, to);
    return true;
  }
  await unlink(from);
  return true;
}

/** Creates a folder with its parents, and flushes them to disk. */
export async function makeFolder(path: string): Promise<void> {
  const first = await makeFolders(path);
  if (first === undefined) return;
  for (let made = path; ; made = dirname(made)) {
    await syncPath(dirname(made));
    if (made === first || dirname(made) === made) return;
  }
}

/** Empties a folder. A process of a killed writer may still add a file to it before it ends. */
export async function clearFolder(path: string): Promise<void> {
  for (const name of await listFolder(path))
    await rm(join(path, name), { recursive: true, force: true, maxRetries: 5 });
}

/** Replaces a file by a text, atomically. */
export async function replaceText(path: string, text: string, id: string): Promise<void> {
  const draft = join(dirname(path), `draft-${id}`);
  await writeSynced(draft, text);
  await rename(draft, path);
  await syncPath(dirname(path));
}
