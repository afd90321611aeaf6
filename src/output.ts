import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { guarded } from './store/failure.ts';

/** Writes a file that appears under its name only when it is whole; what was there stays until then. */
export async function writeWhole(path: string, write: (out: Writable) => Promise<void>): Promise<void> {
  const part = `${path}.part-${process.pid}`;
  await guarded(`file ${path}`, async () => {
    try {
      const out = createWriteStream(part);
      const done = finished(out);
      await Promise.all([write(out).then(() => void out.end()), done]);
      await rename(part, path);
    } finally {
      await rm(part, { force: true });
    }
  });
}
