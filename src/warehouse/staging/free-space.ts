import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, resolve } from 'node:path';
import { StoreError } from '../../core/errors.ts';
import { formatBytes } from '../../core/format.ts';
import { type PipelineDef, proofOf } from '../../declare/pipeline.ts';
import { isObjectUrl } from '../../objects/s3-location.ts';

/** Disk space of a record with everything nested in it, staging included: measured on genuine rows and rounded up. */
const BYTES_A_RECORD = { tx_count: 600, links: 400, none: 400 } as const;
/** Space that must stay free beyond the estimate. */
const RESERVE = 64 * 1024 * 1024;
/** Space for what is staged, and kept for a while, before and after it is put into an object store. */
const MOST_STAGED = 2 * 1024 ** 3;

/** Bytes that some records of a pipeline will take. */
export function estimateBytes(pipeline: PipelineDef, records: number): number {
  return records * BYTES_A_RECORD[proofOf(pipeline) ?? 'none'];
}

/**
 * Checks that there is enough disk space before a run.
 *
 * @throws {StoreError} `disk-full` when the estimate does not fit
 */
export async function requireSpace(warehouse: string, pipeline: PipelineDef, records: number): Promise<void> {
  const isRemote = isObjectUrl(warehouse);
  const place = isRemote ? tmpdir() : warehouse;
  const free = await freeBytes(resolve(place));
  const needed =
    Math.min(estimateBytes(pipeline, records), isRemote ? MOST_STAGED : Number.POSITIVE_INFINITY) + RESERVE;
  if (free === undefined || free >= needed) return;
  throw new StoreError(
    `store: ${pipeline.name} needs about ${formatBytes(needed)} at ${place}, and ${formatBytes(free)} are free`,
    { code: 'disk-full', hint: 'free some space, choose another --warehouse, or ask for a smaller range' },
  );
}

/** Free bytes where a path is, or will be; undefined where the system does not say. */
async function freeBytes(path: string): Promise<number | undefined> {
  try {
    const { bavail, bsize } = await statfs(path);
    return bavail * bsize;
  } catch {
    return path === dirname(path) ? undefined : freeBytes(dirname(path));
  }
}
