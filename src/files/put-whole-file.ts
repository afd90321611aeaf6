import { randomBytes } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { StoreError } from '../core/errors.ts';
import { makeFolder, statIfAny, syncPath } from './disk.ts';
import { guarded } from './file-failure.ts';
import { requireLocalPath } from './local-path.ts';

/**
 * Puts a file that a user named in place as a whole: `write` makes it beside its place, then it is renamed, so that what was there
 * stays until the new one is complete. Its folder is made if need be.
 *
 * @param write is given the path to write to
 * @throws {StoreError} `wrong-path` where a folder stands, or when it cannot be written; nothing is left behind then
 */
export async function putWhole<T>(path: string, write: (draft: string) => Promise<T>): Promise<T> {
  requireLocalPath(path, '--output');
  const work = async (): Promise<T> => {
    const folder = dirname(path);
    await makeFolder(folder);
    if ((await statIfAny(path))?.isDirectory() === true) throw aFolder(path);
    const draft = join(folder, `.${basename(path)}.${randomBytes(4).toString('hex')}`);
    try {
      const result = await write(draft);
      await syncPath(draft);
      await rename(draft, path);
      return result;
    } finally {
      await rm(draft, { force: true });
    }
  };
  return guarded(`file ${path}`, work, '--output');
}

/** As `putWhole`, of a text. */
export async function putContent(path: string, content: string): Promise<void> {
  await putWhole(path, (draft) => writeFile(draft, content));
}

function aFolder(path: string): StoreError {
  return new StoreError(`store: file ${path}: expected a file, or nothing, got a folder`, {
    code: 'wrong-path',
    hint: 'choose another --output',
  });
}
