import { mkdirSync, statSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

// Node's own recursive mkdir never returns where a parent exists but takes no folder, as /proc does; signals do nothing then.

/**
 * Makes a folder with its parents.
 *
 * @returns the first folder that was made, undefined when all were there
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
    if (await isFolder(path)) return undefined;
    throw error;
  }
}

/** As `makeFolders`, without a pause. Folders that are made have the given mode. */
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

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

function isFolderSync(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    return false;
  }
}

/** Passes an error on unless something holds. */
function unless(holds: () => Promise<boolean>): (error: unknown) => Promise<void> {
  return async (error) => {
    if (!(await holds())) throw error;
  };
}
