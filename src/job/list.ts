import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../errors.ts';
import { readFate } from '../store/liveness.ts';
import type { JobRecord } from './record.ts';

/** The job files of a folder, by name; or the file itself. @throws {UsageError} when there is none */
export async function jobFiles(path: string): Promise<readonly string[]> {
  const found = await stat(path).catch((cause: unknown) => {
    throw noJobs(path, 'cannot read', cause);
  });
  if (!found.isDirectory()) return [path];
  const names = (await readdir(path)).filter((name) => /\.ya?ml$/.test(name)).sort();
  if (names.length === 0) throw noJobs(path, 'there is none in', undefined);
  return names.map((name) => join(path, name));
}

function noJobs(path: string, why: string, cause: unknown): UsageError {
  return new UsageError(`usage: expected job files, ${why} ${path}`, {
    code: 'no-job',
    hint: 'job files end in .yaml; those that come with tonlake lie in pipelines/jobs',
    cause,
  });
}

/** A record's state as people need it: a run whose process is gone was killed. @param folder where the record lies */
export async function shownState(record: JobRecord, folder: string): Promise<string> {
  if (record.state !== 'running' && record.state !== 'publishing') return record.state;
  const last = record.attempts.at(-1);
  if (last === undefined) return 'killed';
  const fate = await readFate(last.owner, { path: folder, since: last.startedAt });
  return fate === 'gone' ? 'killed' : record.state;
}
