import { randomBytes } from 'node:crypto';
import { access, constants, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { StoreError } from '../core/errors.ts';
import { makeFolder, statIfAny, syncPath } from './disk.ts';
import { guarded } from './file-failure.ts';
import { requireLocalPath } from './local-path.ts';

/**
 * Writes an output file atomically: `write` creates a draft next to it, which is then renamed over an existing file. Creates the folder if
 * necessary.
 *
 * @param write gets the path of the draft
 * @throws {StoreError} `wrong-path` if it is a folder or a device, or if it cannot be written; no draft is left then
 */
export async function writeAtomically<T>(path: string, write: (draft: string) => Promise<T>): Promise<T> {
  requireLocalPath(path, '--output');
  const work = async (): Promise<T> => {
    const folder = dirname(path);
    await makeFolder(folder);
    const existing = await statIfAny(path);
    // A rename would replace /dev/null.
    if (existing?.isFile() === false) throw noFile(path, existing.isDirectory() ? 'a folder' : 'a device or a pipe');
    // Fails before work that may take long, with an error that names the file.
    await access(folder, constants.W_OK);
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
  return guarded(`file ${path}`, work, 'path');
}

/** Writes a text atomically. */
export async function writeTextAtomically(path: string, content: string): Promise<void> {
  await writeAtomically(path, (draft) => writeFile(draft, content));
}

function noFile(path: string, got: string): StoreError {
  return new StoreError(`store: file ${path}: expected a file, or nothing, got ${got}`, {
    code: 'wrong-path',
    hint: 'choose another path',
  });
}
