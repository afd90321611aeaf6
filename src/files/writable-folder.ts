import { mkdtemp, rmdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Trial } from '../core/trial.ts';
import { statIfAny } from './disk.ts';
import { guarded, type Place } from './file-failure.ts';

/** Tries a folder of something, as `place` calls it. @param what else the name says */
export function folderTrial(path: string, place: Place, what = ''): Trial {
  return { name: `write to ${path}${what}`, attempt: () => requireWritableFolder(path, place) };
}

/**
 * Tries whether a folder can be written, or be made in the nearest one above it that is there. Leaves nothing behind.
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
