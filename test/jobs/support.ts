import { realEffects } from '../../src/core/effects.ts';
import { checkJob } from '../../src/jobs/check-job.ts';
import type { Job } from '../../src/jobs/job.ts';
import { parseJob } from '../../src/jobs/parse-job.ts';
import { type JobOutcome, type JobRunOptions, runJob } from '../../src/jobs/run-job.ts';
import { type Asked, type FakeActions, fakeActions } from './fakes.ts';

/** 2026-05-04 03:15 UTC, a Monday. */
export const NIGHT = Date.UTC(2026, 4, 4, 3, 15);

/** A job of some lines. */
export async function jobOf(text: string, file = 'jobs/nightly.yaml', warehouse?: string): Promise<Job> {
  return checkJob(parseJob(text, file), { now: NIGHT, warehouse });
}

export type FakedOutcome = JobOutcome & { readonly asked: Asked };

/** Runs a job of `NIGHT` with actions that only note what they are asked. */
export async function runFaked(
  job: Job,
  over: FakeActions = {},
  given: Partial<Pick<JobRunOptions, 'due' | 'effects' | 'stop' | 'trigger'>> = {},
): Promise<FakedOutcome> {
  const { actions, asked } = fakeActions(over);
  return { ...(await runJob({ job, actions, effects: realEffects, due: NIGHT, ...given })), asked };
}
