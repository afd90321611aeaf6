import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import type { Effects } from '../core/effects.ts';
import type { Trial } from '../core/trial.ts';
import { folderTrial } from '../files/writable-folder.ts';
import { isObjectUrl } from '../objects/s3-location.ts';
import { requireSpace } from './staging/free-space.ts';

/**
 * Checks of the place of a warehouse before anything is written: permissions, DuckDB extensions, and disk space.
 *
 * @param path as `warehousePath` gives it
 */
export async function placeTrials(path: string, effects: Effects): Promise<readonly Trial[]> {
  const folder = path.endsWith('.duckdb') ? dirname(path) : path;
  const disk: Trial = { name: 'stage files', attempt: () => requireSpace(path, 'a run', 0) };
  if (!isObjectUrl(path)) {
    return [folderTrial(folder, '--warehouse'), disk];
  }
  const [{ bucketTrials }, { openS3Store }, { requireHttpfs }] = await Promise.all([
    import('../objects/object-trials.ts'),
    import('../objects/s3-store.ts'),
    import('../sql/httpfs.ts'),
  ]);
  return [
    ...bucketTrials(openS3Store(path), effects.freshId()),
    { name: "load DuckDB's extension httpfs", attempt: requireHttpfs },
    folderTrial(tmpdir(), 'TMPDIR', ', for staged files'),
    disk,
  ];
}
