import { openJob } from '../jobs/check-job.ts';
import { checkQueries } from '../jobs/check-queries.ts';
import { requireKeptRanges } from '../jobs/check-retention.ts';
import type { Job } from '../jobs/job.ts';
import { jobFiles, jobsPlace } from '../jobs/list-jobs.ts';
import { fallbackWarehouse } from '../project/project-file.ts';

/** Opens job files, and those of folders; without any, those of the folder of jobs. @throws {UsageError} with line and column */
export async function openJobs(paths: readonly string[]): Promise<readonly Job[]> {
  const places = paths.length === 0 ? [await jobsPlace()] : paths;
  const files = (await Promise.all(places.map(jobFiles))).flat();
  const options = { now: Date.now(), fallbackWarehouse: fallbackWarehouse() };
  const jobs = await Promise.all(files.map((file) => openJob(file, options)));
  for (const job of jobs) await checkQueries(job);
  requireKeptRanges(jobs, options.now);
  return jobs;
}
