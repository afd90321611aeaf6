import { stat } from 'node:fs/promises';
import { type UsageError, usage } from '../core/errors.ts';
import { suggest } from '../core/suggest.ts';
import { yamlFiles } from '../files/yaml-files.ts';

/** Default folders of jobs. */
const PLACES = ['jobs', 'pipelines/jobs'];
/** An example that runs without changes. */
const FIRST_JOB = `{network: sandbox, pipelines: [transactions], range: yesterday, schedule: {cron: "15 3 * * *"}}`;

/** The folder of the user's jobs, below the working folder. @throws {UsageError} if there is none */
export async function jobsPlace(): Promise<string> {
  for (const path of PLACES) {
    const found = await stat(path).catch(() => undefined);
    if (found?.isDirectory() === true) return path;
  }
  throw noJobs(PLACES.join(' or '), 'there is no folder', undefined);
}

/** The job files of a folder, by name, or the file itself. @throws {UsageError} */
export function jobFiles(path: string): Promise<readonly string[]> {
  return yamlFiles(path, (why, cause) => noJobs(path, why, cause));
}

function noJobs(path: string, why: string, cause: unknown): UsageError {
  return usage(
    `job files, ${why} ${path}`,
    undefined,
    `job files end in .yaml; create one: mkdir -p jobs && echo '${FIRST_JOB}' > jobs/nightly.yaml && ${suggest('job list', 'jobs')}`,
    { cause },
  );
}
