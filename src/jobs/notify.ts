import { formatError } from '../core/errors.ts';
import { noticeTarget } from './delivery-target.ts';
import type { Job } from './job.ts';
import type { JobActions } from './job-actions.ts';
import type { Notice } from './job-schema.ts';
import { type StepContext, secondsSince } from './job-step.ts';
import { databasesOf, faultOf, hasNothingNew, type JobRecord } from './run-record.ts';

/** Notifies the targets for failures that a run is late. A failed notification is dropped. */
export async function notifyLate(
  job: Job,
  actions: Pick<JobActions, 'notify'>,
  late: { readonly due: number; readonly by: number },
): Promise<void> {
  const [due, by] = [late.due, late.by].map((ms) => new Date(ms).toISOString());
  const text = `${job.name} late: the run of ${due} is not done at ${by}`;
  await notifyFailure(job, actions, { text, state: 'late', due, expectedBy: by });
}

/** Notifies the targets for failures of a run that could not record its failure, such as in a full bucket. */
export async function notifyUnrecorded(
  job: Job,
  actions: Pick<JobActions, 'notify'>,
  dueMs: number,
  failure: unknown,
): Promise<void> {
  const [due, error] = [new Date(dueMs).toISOString(), faultOf(failure)];
  await notifyFailure(job, actions, {
    text: `${job.name} failed: ${due}: ${error.message}`,
    state: 'failed',
    due,
    error,
  });
}

async function notifyFailure(
  job: Job,
  actions: Pick<JobActions, 'notify'>,
  what: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { name, notify, network, warehouse } = job;
  const body = `${JSON.stringify({ ...what, job: name, network, warehouse })}\n`;
  await Promise.allSettled(
    noticesFor(notify, true).map(async (notice) => actions.notify(noticeTarget(notice, process.env).notice, body)),
  );
}

/** Sends the notifications of a run. A failed notification does not change the result of the run. */
export async function notifyAll(context: StepContext, record: JobRecord): Promise<void> {
  const { job, actions, onStep, effects } = context;
  const isFailure = record.state === 'failed';
  const body = `${JSON.stringify(outcomeOf(record))}\n`;
  for (const notice of noticesFor(job.notify, isFailure)) {
    const startedAt = effects.monotonic();
    const name = nameOf(notice);
    const send = async (): Promise<undefined> =>
      void (await actions.notify(noticeTarget(notice, process.env).notice, body));
    const failure = await send().catch(formatError);
    const seconds = secondsSince(effects, startedAt);
    const status = failure === undefined ? 'done' : 'failed';
    await onStep({ kind: 'notify', name, status, seconds, message: failure });
  }
}

/** The notices for a failure, or for a success. */
function noticesFor(notices: readonly Notice[], isFailure: boolean): readonly Notice[] {
  return notices.filter(({ on }) => on === 'always' || (on === 'failure') === isFailure);
}

/** A URL may contain a secret: only its host is shown. */
function nameOf({ command, webhook, webhook_env: variable }: Notice): string {
  return command?.[0] ?? (webhook === undefined ? `webhook of ${variable}` : new URL(webhook).host);
}

/** The body of a notification. `text` is a one-line summary. */
export function outcomeOf(record: JobRecord): Readonly<Record<string, unknown>> {
  const { job, id, state, due, range, error, steps, outputs, network, warehouse } = record;
  const what = range?.lastDay ?? range?.blocks ?? (hasNothingNew(record) ? 'nothing new' : due);
  const text = `${job} ${state}: ${what}${error === undefined ? '' : `: ${error.message}`}`;
  return {
    text,
    job,
    id,
    state,
    due,
    range,
    network,
    warehouse,
    error,
    steps,
    outputs: [...outputs.map(({ path }) => path), ...databasesOf(record)],
  };
}
