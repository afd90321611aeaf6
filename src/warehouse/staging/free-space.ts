import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, resolve } from 'node:path';
import { StoreError } from '../../core/errors.ts';
import { formatBytes } from '../../core/format.ts';
import { isObjectUrl } from '../../objects/s3-location.ts';

/** Space that must stay free beyond the estimate. */
const RESERVE = 64 * 1024 * 1024;
/** Maximum space for staged files and local copies of an object store. */
const MAX_STAGED = 2 * 1024 ** 3;

/**
 * Requires free disk space for a warehouse, or for the staged files of one in an object store.
 *
 * @param what the work that needs the space, for the error
 * @throws {StoreError} `disk-full`
 */
export async function requireSpace(warehouse: string, what: string, bytes: number): Promise<void> {
  const isRemote = isObjectUrl(warehouse);
  const place = isRemote ? tmpdir() : warehouse;
  const free = await freeBytes(resolve(place));
  const needed = Math.min(bytes, isRemote ? MAX_STAGED : Number.POSITIVE_INFINITY) + RESERVE;
  if (free === undefined || free >= needed) return;
  throw new StoreError(
    `store: ${what} needs about ${formatBytes(needed)} at ${place}, and ${formatBytes(free)} are free`,
    { code: 'disk-full', hint: 'free some space, choose another --warehouse, or ask for a smaller range' },
  );
}

/** Free bytes at an existing or future path; undefined if the system does not tell. */
async function freeBytes(path: string): Promise<number | undefined> {
  try {
    const { bavail, bsize } = await statfs(path);
    return bavail * bsize;
  } catch {
    return path === dirname(path) ? undefined : freeBytes(dirname(path));
  }
}
