import { statSync } from 'node:fs';
import { link, rename, rm, rmdir, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { realEffects } from '../../core/effects.ts';
import { failedWith } from '../../core/failed-with.ts';
import { ifAny, lacksLinks, makeFolder } from '../../files/disk.ts';

/**
 * Each data file has two hard links: `tables/...` for programs that read a folder, and `pinned/...` for catalogs and lists of files. A
 * superseded file loses the first one at once and the second one after the grace period, so no folder shows rows twice and no open reader
 * loses a file. If the file system has no hard links, a superseded file moves from one to the other.
 */
export function pinnedPath(path: string): string {
  return path.replace(/^tables\//, 'pinned/');
}

/** The absolute path that stays valid longest for readers. In a copy of a warehouse, the two names may be different files. */
export function steadyPath(warehouse: string, path: string): string {
  // Called for many thousand files, and `join` takes longer than the rest.
  const [own, pinned] = [`${warehouse}/${path}`, `${warehouse}/${pinnedPath(path)}`];
  const steady = statSync(pinned, { throwIfNoEntry: false });
  if (steady === undefined) return own;
  if (steady.nlink > 1) return pinned;
  return statSync(own, { throwIfNoEntry: false }) === undefined ? pinned : own;
}

/** Gives a file in `tables/` its second name. @returns false if the file system has no hard links */
export async function pinFile(warehouse: string, path: string): Promise<boolean> {
  const [own, pinned] = [join(warehouse, path), join(warehouse, pinnedPath(path))];
  await makeFolder(dirname(pinned));
  try {
    if (await linkIfAbsent(own, pinned)) return true;
    // A copied warehouse has two files. The name is never free in between: a writer may retire the other one at any moment.
    const draft = join(dirname(pinned), `0-0-${realEffects.freshId()}.parquet`);
    await link(own, draft);
    await rename(draft, pinned);
    // Two names of one file are not renamed.
    await rm(draft, { force: true });
    return true;
  } catch (error) {
    if (lacksLinks(error) || failedWith(error, 'EMLINK', 'EXDEV')) return false;
    throw error;
  }
}

/** @returns false if there is another file of that name */
async function linkIfAbsent(own: string, name: string): Promise<boolean> {
  try {
    await link(own, name);
    return true;
  } catch (error) {
    if (!failedWith(error, 'EEXIST')) throw error;
    const [one, other] = [own, name].map((path) => statSync(path, { throwIfNoEntry: false }));
    // Retired meanwhile: the second name is its last one.
    return one === undefined || (one.ino === other?.ino && one.dev === other.dev);
  }
}

/** Removes a superseded file from `tables/`, if it is still there. */
export async function retireFile(warehouse: string, path: string): Promise<void> {
  const own = join(warehouse, path);
  const pinned = join(warehouse, pinnedPath(path));
  if (steadyPath(warehouse, path) === pinned) {
    await ifAny(unlink(own));
  } else {
    await makeFolder(dirname(pinned));
    await ifAny(rename(own, pinned));
  }
  await removeEmpty(dirname(own));
}

/** Moves a file that is in force again back to `tables/`. @returns false if it is gone */
export async function restoreFile(warehouse: string, path: string): Promise<boolean> {
  const own = join(warehouse, path);
  await makeFolder(dirname(own));
  const moved = await ifAny(rename(join(warehouse, pinnedPath(path)), own).then(() => true));
  return moved === true && (await pinFile(warehouse, path).then(() => true));
}

/** Removes both names of a file. */
export async function removeFile(warehouse: string, path: string): Promise<void> {
  for (const name of [path, pinnedPath(path)]) {
    await rm(join(warehouse, name), { force: true });
    await removeEmpty(dirname(join(warehouse, name)));
  }
}

/** True if a file in force has a second name, and not a copy. */
export function isPinned(warehouse: string, path: string): boolean {
  return (statSync(`${warehouse}/${pinnedPath(path)}`, { throwIfNoEntry: false })?.nlink ?? 0) > 1;
}

/** Does nothing if the folder has other files. */
async function removeEmpty(folder: string): Promise<void> {
  await rmdir(folder).catch(() => {});
}
