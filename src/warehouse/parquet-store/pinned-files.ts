import { statSync } from 'node:fs';
import { link, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { failedWith } from '../../core/failed-with.ts';
import { ifAny, lacksLinks, makeFolder } from '../../files/disk.ts';
import type { Relocation } from '../../sql/database.ts';

/**
 * A data file has one name: in `tables/`, which programs read as a folder, as long as it is in force; in `pinned/` from the commit that
 * supersedes it until its grace period is over, so no folder shows rows twice and no query loses a file. Only files that a publication
 * shows have both names at once.
 */
export function pinnedPath(path: string): string {
  return path.replace(/^tables\//, 'pinned/');
}

/** The absolute path where a file lies now; in `tables/` if it is nowhere. */
export function placeOf(warehouse: string, path: string): string {
  // Called for many thousand files, and `join` takes longer than the rest.
  const [own, pinned] = [`${warehouse}/${path}`, `${warehouse}/${pinnedPath(path)}`];
  return !isThere(own) && isThere(pinned) ? pinned : own;
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** A data file of ours in SQL, or in a message, after the path of its warehouse. */
const NAMED = /\/(?:tables|pinned)\/(\w+\/(?:\w+=[^'"/]+\/)?\d+-\d+-[0-9a-z]+\.parquet)/g;

/** A file as the ledger names it, from an absolute path of where it lies or lay. */
export function ledgerPath(absolute: string): string {
  const found = [...absolute.matchAll(NAMED)].at(-1);
  return `tables/${found?.[1]}`;
}

/** Where the files of a warehouse lie that statements and messages name. */
export function relocationIn(warehouse: string): Relocation {
  const current = (text: string): string =>
    text.replace(NAMED, (_, tail: string) => placeOf(warehouse, `tables/${tail}`).slice(warehouse.length));
  return {
    hasMoved: (message) =>
      [...message.matchAll(NAMED)].some(([name]) => current(name) !== name && isThere(`${warehouse}${current(name)}`)),
    relocate: async (sql) => current(sql),
  };
}

/** Gives a file a second name that stays when it is superseded. @returns false if the file system has no hard links */
export async function pinFile(warehouse: string, path: string): Promise<boolean> {
  const [own, pinned] = [join(warehouse, path), join(warehouse, pinnedPath(path))];
  await makeFolder(dirname(pinned));
  try {
    await link(own, pinned);
    return true;
  } catch (error) {
    // Superseded meanwhile: the second name is its only one.
    if (failedWith(error, 'EEXIST') || (failedWith(error, 'ENOENT') && isThere(pinned))) return true;
    // A writer has removed the folder while it was empty.
    if (failedWith(error, 'ENOENT') && isThere(own)) return pinFile(warehouse, path);
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
  // Two names of one file are not renamed.
  await rm(own, { force: true });
  await removeEmpty(dirname(own));
}

/** Moves a file that is in force again back to `tables/`. @param isPublished it keeps its other name @returns false if it is gone */
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
