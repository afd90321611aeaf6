import { mkdtemp, rmdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Trial } from '../core/trial.ts';
import { statIfAny } from './disk.ts';
import { guarded, type Place } from './file-failure.ts';

/** Checks that a folder is writable. @param what suffix of the name */
export function folderTrial(path: string, place: Place, what = ''): Trial {
  return { name: `write to ${path}${what}`, attempt: () => requireWritableFolder(path, place) };
}

/**
 * Checks that a folder, or its nearest existing parent, is writable. Leaves nothing behind.
 *
 * @throws {StoreError} about `path`
 */
async function requireWritableFolder(path: string, place: Place): Promise<void> {
  const work = async (): Promise<void> => {
    let at = resolve(path);
    while ((await statIfAny(at)) === undefined) at = dirname(at);
    await rmdir(await mkdtemp(join(at, '.tonlake-')));
  };
  await guarded(path, work, place);
}
