import { openJob } from '../jobs/check-job.ts';
import { checkQueries } from '../jobs/check-queries.ts';
import { requireRetainedRanges } from '../jobs/check-retention.ts';
import type { Job } from '../jobs/job.ts';
import { jobFiles, jobsPlace } from '../jobs/list-jobs.ts';

/**
 * Opens job files, and those of folders; without any, those of the folder of jobs.
 *
 * @param warehouse overrides that of the files
 * @throws {UsageError} with line and column
 */
export async function openJobs(paths: readonly string[], warehouse?: string): Promise<readonly Job[]> {
  const places = paths.length === 0 ? [await jobsPlace()] : paths;
  const files = (await Promise.all(places.map(jobFiles))).flat();
  const now = Date.now();
  const jobs: Job[] = [];
  for (const file of files) jobs.push(await openJob(file, { warehouse, now }));
  for (const job of jobs) await checkQueries(job);
  requireRetainedRanges(jobs, now);
  return jobs;
}
