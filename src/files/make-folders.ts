import { mkdirSync, statSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

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
    if (isMissingParent(error, path)) {
      const first = await makeFolders(dirname(path));
      await mkdir(path).catch(unless(() => isFolder(path)));
      return first ?? path;
    }
    if (!(await isFolder(path))) throw error;
    // A call that failed may have made it all the same.
    return isThere(error) ? undefined : path;
  }
}

/** Synchronous `makeFolders`; new folders get the given mode. */
export function makeFoldersSync(path: string, mode?: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (isMissingParent(error, path)) {
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

function isMissingParent(error: unknown, path: string): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT' && dirname(path) !== path;
}

function isThere(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST';
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}

/** @throws what says nothing about the path, as a fault of the disk */
async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    (error) => {
      if (isAbsent(error)) return false;
      throw error;
    },
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
