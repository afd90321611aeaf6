import { checkJob } from '../../src/jobs/check-job.ts';
import type { Job } from '../../src/jobs/job.ts';
import { parseJob } from '../../src/jobs/parse-job.ts';

/** 2026-05-04 03:15 UTC, a Monday. */
export const NIGHT = Date.UTC(2026, 4, 4, 3, 15);

/** A job of some lines. */
export async function jobOf(text: string, file = 'jobs/nightly.yaml', warehouse?: string): Promise<Job> {
  return checkJob(parseJob(text, file), { now: NIGHT, warehouse });
}
