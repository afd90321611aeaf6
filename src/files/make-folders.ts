import { mkdirSync, statSync } from 'node:fs';
import { lstat, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { failedWith } from '../core/failed-with.ts';

// Node's recursive mkdir hangs, and ignores signals, if a parent exists but cannot contain folders, such as /proc.

/**
 * Creates a folder with its parents.
 *
 * @returns the first created folder, or one that may be; undefined if all existed
 * @throws an error of the file system
 */
export async function makeFolders(path: string): Promise<string | undefined> {
  try {
    await mkdir(path);
    return path;
  } catch (error) {
    if (failedWith(error, 'ENOENT') && dirname(path) !== path) {
      const first = await makeFolders(dirname(path));
      await mkdir(path).catch(unless(() => isFolder(path)));
      return first ?? path;
    }
    if (!(await isFolder(path))) {
      // An empty folder may have been removed meanwhile.
      if (failedWith(error, 'EEXIST') && (await isGone(path))) return makeFolders(path);
      throw error;
    }
    // A failed call may still have created it.
    return failedWith(error, 'EEXIST') ? undefined : path;
  }
}

/** Synchronous `makeFolders`; new folders get the given mode. */
export function makeFoldersSync(path: string, mode?: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (failedWith(error, 'ENOENT') && dirname(path) !== path) {
      makeFoldersSync(dirname(path), mode);
      makeOneSync(path, mode);
    } else if (!isFolderSync(path)) throw error;
  }
}

function makeOneSync(path: string, mode: number | undefined): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have been faster.
    if (!isFolderSync(path)) throw error;
  }
}

/** @throws errors other than a missing path, such as a disk failure */
async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    (error) => {
      if (failedWith(error, 'ENOENT', 'ENOTDIR')) return false;
      throw error;
    },
  );
}

async function isGone(path: string): Promise<boolean> {
  return lstat(path).then(
    () => false,
    (error) => failedWith(error, 'ENOENT'),
  );
}

function isFolderSync(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    return false;
  }
}

/** Rethrows an error unless a condition holds. */
function unless(holds: () => Promise<boolean>): (error: unknown) => Promise<void> {
  return async (error) => {
    if (!(await holds())) throw error;
  };
}
