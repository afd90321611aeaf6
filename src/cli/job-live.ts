import { formatError, JobError, StoreError } from '../core/errors.ts';
import { planRun } from '../export/plan.ts';
import type { Job } from '../jobs/job.ts';
import { jobActions } from '../jobs/job-actions.ts';
import { daysText } from '../jobs/job-range.ts';
import type { Fixed, StepContext } from '../jobs/job-step.ts';
import { fixRun } from '../jobs/job-steps.ts';
import { preflight } from '../jobs/preflight.ts';
import { describeRetention, retentionRequest } from '../jobs/retention-step.ts';
import { JobHistory } from '../jobs/run-history.ts';
import { type JobEvent, runJob } from '../jobs/run-job.ts';
import { describeRecord, describeStep } from '../jobs/show-job.ts';
import type { RetentionReport } from '../verify/retention.ts';
import { requireSpace, warehousePath } from '../warehouse/index.ts';
import type { Context } from './context.ts';
import { formatPlan } from './format-plan.ts';
import { rememberPlace } from './invocation.ts';
import { LiveEvents } from './live-events.ts';
import { limitHeap } from './v8-flags.ts';

/** Runs a job once: prints JSON lines to standard output, or steps to standard error and the result to standard output. */
export async function runOnce(context: Context, job: Job, due: number | undefined): Promise<void> {
  limitHeap();
  rememberPlace({ warehouse: job.warehouse, network: job.network });
  const { effects, isJson, line } = context;
  const live = new LiveEvents(line, isJson);
  const outcome = await runJob({
    job,
    actions: jobActions,
    effects,
    due,
    stop: context.signal,
    onEvent: (event) => {
      if (event.event !== 'begin' && event.event !== 'step') return live.showRun(event);
      line.end();
      if (isJson) return context.print(event, () => '');
      const text = describeEvent(event);
      if (text !== undefined) line.print(text);
    },
  }).catch((failure: unknown) => {
    if (!(failure instanceof JobError) || failure.code !== 'runs-already') throw failure;
    line.end();
    context.print({ event: 'runs-already', job: job.name, message: failure.message }, ({ message }) => `${message}\n`);
  });
  if (outcome === undefined) return;
  const { record, error } = outcome;
  line.end();
  context.print({ event: 'end', ...record }, describeRecord);
  if (error !== undefined) throw error;
  if (record.state !== 'interrupted') return;
  line.print('interrupted: committed rows are kept; run the same command again to continue');
  process.exitCode = 130;
}

function describeEvent(event: JobEvent): string | undefined {
  if (event.event === 'begin') {
    return event.attempt === 1 ? undefined : `${event.job}: resuming the run of ${event.due}`;
  }
  const failed = event.kind === 'notify' && event.status === 'failed' ? 'warning: ' : '';
  return `${failed}${describeStep(event)}`;
}

/** Shows what a run of a job would export and forget. Writes nothing and takes no lock. */
export async function dryRunJob({ effects, isJson, write }: Context, job: Job, due: number | undefined): Promise<void> {
  limitHeap();
  const tried = await preflight(job, effects);
  const missing = tried.flatMap(({ name, error }) =>
    error === undefined ? [] : [{ name, message: formatError(error) }],
  );
  if (missing.length > 0) {
    process.exitCode = 1;
    if (isJson) return write(`${JSON.stringify({ event: 'planned', job: job.name, missing })}\n`);
    return write(missing.map(({ name, message }) => `cannot ${name}: ${message}\n`).join(''));
  }
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
  const fixed = await fixRun(context, due ?? effects.now(), records);
  const { range } = fixed;
  const { pipelines, selection, network, warehouse, rps, priority } = job;
  const plan =
    range.blocks === undefined
      ? undefined
      : await planRun({ pipelines, ...selection, range: range.blocks, network, warehouse, rps, priority, effects });
  if (plan !== undefined) await requireSpace(warehousePath(warehouse), 'this run', plan.bytes);
  const retention = await planRetention(context, fixed);
  const event = { event: 'planned', job: job.name, range, plan, retention, missing };
  if (isJson) return write(`${JSON.stringify(event)}\n`);
  const days = daysText(range);
  write(`${job.name}${days === undefined ? '' : ` ${days}`}: `);
  write(plan === undefined ? 'nothing to export\nnothing was changed\n' : formatPlan(plan));
  if (retention !== undefined) write(`retention of existing rows: ${describeRetention(retention)}\n`);
  write(`tried: ${tried.map(({ name }) => name).join('; ')}\n`);
}

/** What would be forgotten of the existing rows, before the export; undefined if there is no warehouse. */
async function planRetention(context: StepContext, fixed: Fixed): Promise<RetentionReport | undefined> {
  const request = retentionRequest(context, fixed);
  if (request === undefined) return undefined;
  try {
    return await context.actions.forgetOld({ ...request, isDry: true });
  } catch (error) {
    if (error instanceof StoreError && error.code === 'no-warehouse') return undefined;
    throw error;
  }
}
