import { checkJob } from '../../src/jobs/check-job.ts';
import type { Job } from '../../src/jobs/job.ts';
import type { JobNames } from '../../src/jobs/known-names.ts';
import { parseJob } from '../../src/jobs/parse-job.ts';

/** Names that the jobs of the tests may use. */
export const NAMES: JobNames = {
  pipelines: ['blocks', 'transactions', 'actions'],
  tables: ['blocks', 'transactions', 'messages'],
  marts: ['gas_fees_daily', 'block_times'],
  checks: ['unique_transactions', 'balances_add_up'],
  reports: ['network-daily', 'account'],
};

/** 2026-05-04 03:15 UTC, a Monday. */
export const NIGHT = Date.UTC(2026, 4, 4, 3, 15);

/** A job of some lines. */
export async function jobOf(text: string, file = 'jobs/nightly.yaml', warehouse?: string): Promise<Job> {
  return checkJob(parseJob(text, file), { names: NAMES, now: NIGHT, warehouse });
}
