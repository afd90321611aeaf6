import { realEffects } from '../core/effects.ts';
import { StoreError } from '../core/errors.ts';
import { planRun } from '../export/plan.ts';
import { jobActions } from '../jobs/default-actions.ts';
import type { Job } from '../jobs/job.ts';
import type { RetentionOutcome } from '../jobs/job-actions.ts';
import { daysText } from '../jobs/job-range.ts';
import type { Fixed, StepContext } from '../jobs/job-step.ts';
import { fixRun } from '../jobs/job-steps.ts';
import { describeRetention, retentionRequest } from '../jobs/retention-step.ts';
import { JobHistory, lastBlock } from '../jobs/run-history.ts';
import { formatPlan } from './dry-run.ts';
import { limitHeap } from './run-live.ts';

/** Shows what a run of a job would export and forget. Writes nothing and takes no lock. */
export async function dryRunJob(job: Job, due: number | undefined, isJson: boolean): Promise<void> {
  limitHeap();
  const effects = realEffects;
  const records = await (await JobHistory.open(job.warehouse, job.name)).read();
  const stop = new AbortController().signal;
  const context: StepContext = {
    job,
    actions: jobActions,
    effects,
    stop,
    onStep: async () => {},
    onRunEvent: undefined,
  };
  const fixed = await fixRun(context, due ?? effects.now(), lastBlock(records, job.pipelines));
  const { range } = fixed;
  const { pipelines, selection, network, warehouse, rps, priority } = job;
  const plan =
    range.blocks === undefined
      ? undefined
      : await planRun({ pipelines, ...selection, range: range.blocks, network, warehouse, rps, priority, effects });
  const retention = await planRetention(context, fixed);
  if (isJson) {
    process.stdout.write(`${JSON.stringify({ event: 'planned', job: job.name, range, plan, retention })}\n`);
    return;
  }
  const days = daysText(range);
  process.stdout.write(`${job.name}${days === undefined ? '' : ` ${days}`}: `);
  process.stdout.write(plan === undefined ? 'nothing to export\nnothing was changed\n' : formatPlan(plan));
  if (retention !== undefined) process.stdout.write(`retention of existing rows: ${describeRetention(retention)}\n`);
}

/** What would be forgotten of the existing rows, before the export; undefined if there is no warehouse. */
async function planRetention(context: StepContext, fixed: Fixed): Promise<RetentionOutcome | undefined> {
  const request = retentionRequest(context, fixed);
  if (request === undefined) return undefined;
  try {
    return await context.actions.forgetOld({ ...request, isDry: true });
  } catch (error) {
    if (error instanceof StoreError && error.code === 'no-warehouse') return undefined;
    throw error;
  }
}
