import { statSync } from 'node:fs';
import { link, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { failedWith } from '../../core/failed-with.ts';
import { ifAny, lacksLinks, makeFolder } from '../../files/disk.ts';
import type { Relocation } from '../../sql/database.ts';

/**
 * The path of a data file once it is superseded. A file is in `tables/`, which programs read as a folder, while it is in force, and in
 * `pinned/` from then until its grace period is over, so no folder has rows twice and no query loses a file. Only published files have both
 * names at once.
 */
export function pinnedPath(path: string): string {
  return path.replace(/^tables\//, 'pinned/');
}

/** The absolute path where a file lies now; in `tables/` if it is nowhere. */
export function placeOf(warehouse: string, path: string): string {
  // Called for thousands of files; `join` would take longer than the rest.
  const [own, pinned] = [`${warehouse}/${path}`, `${warehouse}/${pinnedPath(path)}`];
  return !exists(own) && exists(pinned) ? pinned : own;
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** The path of a data file inside its warehouse, in SQL or in a message. */
const NAMED = /\/(?:tables|pinned)\/(\w+\/(?:\w+=[^'"/]+\/)?\d+-\d+-[0-9a-z]+\.parquet)/g;

/** The path of a file in the ledger, from its present or earlier absolute path. */
export function ledgerPath(absolute: string): string {
  const found = [...absolute.matchAll(NAMED)].at(-1);
  return `tables/${found?.[1]}`;
}

/** {@link Relocation} of the files of a warehouse. */
export function relocationIn(warehouse: string): Relocation {
  const current = (text: string): string =>
    text.replace(NAMED, (_, tail: string) => placeOf(warehouse, `tables/${tail}`).slice(warehouse.length));
  return {
    hasMoved: (message) =>
      [...message.matchAll(NAMED)].some(([name]) => current(name) !== name && exists(`${warehouse}${current(name)}`)),
    relocate: async (sql) => current(sql),
  };
}

/** Gives a file its second name, which it keeps when it is superseded. @returns false if the file system has no hard links */
export async function pinFile(warehouse: string, path: string): Promise<boolean> {
  const [own, pinned] = [join(warehouse, path), join(warehouse, pinnedPath(path))];
  await makeFolder(dirname(pinned));
  try {
    await link(own, pinned);
    return true;
  } catch (error) {
    // If it was superseded meanwhile, it has only the second name.
    if (failedWith(error, 'EEXIST') || (failedWith(error, 'ENOENT') && exists(pinned))) return true;
    // A writer has removed the empty folder.
    if (failedWith(error, 'ENOENT') && exists(own)) return pinFile(warehouse, path);
    if (lacksLinks(error) || failedWith(error, 'EMLINK', 'EXDEV')) return false;
    throw error;
  }
}

/** Moves a superseded file out of `tables/`, if it is still there. */
export async function retireFile(warehouse: string, path: string): Promise<void> {
  const own = join(warehouse, path);
  const pinned = join(warehouse, pinnedPath(path));
  await makeFolder(dirname(pinned));
  await ifAny(rename(own, pinned));
  // `rename` does nothing if both names are links to the same file.
  await rm(own, { force: true });
  await removeEmpty(dirname(own));
}

/** Moves a file that is in force again back to `tables/`. @param isPublished true to keep its other name, too @returns false if it is gone */
export async function restoreFile(warehouse: string, path: string, isPublished: boolean): Promise<boolean> {
  const [own, pinned] = [join(warehouse, path), join(warehouse, pinnedPath(path))];
  await makeFolder(dirname(own));
  const moved = await ifAny((isPublished ? link : rename)(pinned, own).then(() => true));
  return moved === true;
}

/** Removes all names of a file. */
export async function removeFile(warehouse: string, path: string): Promise<void> {
  for (const name of [path, pinnedPath(path)]) {
    await rm(join(warehouse, name), { force: true });
    await removeEmpty(dirname(join(warehouse, name)));
  }
}

/** Does nothing if the folder has other files. */
async function removeEmpty(folder: string): Promise<void> {
  await rmdir(folder).catch(() => {});
}
