import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { guarded } from '../store/failure.ts';

/**
 * Puts a file in place as a whole: written beside it, then renamed, so that what was there stays until the new one is complete.
 * @throws {StoreError} when it cannot be written; nothing is left behind then.
 */
export async function replaceFile(path: string, content: string): Promise<void> {
  await guarded(`file ${path}`, async () => {
    await mkdir(dirname(path), { recursive: true });
    const aside = join(dirname(path), `.${basename(path)}.${randomBytes(4).toString('hex')}`);
    try {
      const file = await open(aside, 'wx');
      try {
        await file.writeFile(content);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(aside, path);
    } catch (error) {
      await rm(aside, { force: true });
      throw error;
    }
  });
}
