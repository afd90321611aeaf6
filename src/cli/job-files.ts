import { type OpenJobOptions, openJob } from '../jobs/check-job.ts';
import { checkQueries } from '../jobs/check-queries.ts';
import { requireRetainedRanges } from '../jobs/check-retention.ts';
import type { Job } from '../jobs/job.ts';
import { jobFiles, jobsPlace } from '../jobs/list-jobs.ts';
import { fallbackWarehouse } from '../project/project-file.ts';

/**
 * Opens job files, and those of folders; without any, those of the folder of jobs.
 *
 * @param warehouse overrides that of the files
 * @throws {UsageError} with line and column
 */
export async function openJobs(paths: readonly string[], warehouse?: string): Promise<readonly Job[]> {
  const places = paths.length === 0 ? [await jobsPlace()] : paths;
  const files = (await Promise.all(places.map(jobFiles))).flat();
  const options = openOptions(warehouse);
  const jobs: Job[] = [];
  for (const file of files) jobs.push(await openJob(file, options));
  for (const job of jobs) await checkQueries(job);
  requireRetainedRanges(jobs, options.now);
  return jobs;
}

/** The option has priority over the warehouse of the job file; the environment and the project have not. */
export function openOptions(warehouse: string | undefined): OpenJobOptions {
  return { warehouse, fallbackWarehouse: fallbackWarehouse(), now: Date.now() };
}
