import type { Effects } from '../core/effects.ts';
import { formatError } from '../core/errors.ts';
import type { JobActions } from '../jobs/job-actions.ts';
import { isTransient, runJob } from '../jobs/run-job.ts';
import type { JobRecord } from '../jobs/run-record.ts';
import type { Dropped, DueRun, JobQueue, LateRun, Missed, ScheduledJob } from './job-queue.ts';

/** Events of a schedule. */
export type ScheduleEvent =
  | { readonly event: 'watching'; readonly job: string; readonly next: string | undefined }
  /** Runs were missed; `givenUp` if there were more than are caught up. */
  | ({ readonly job: string } & Missed)
  /** Runs that failed, or waited, are dropped because newer ones are due. */
  | ({ readonly job: string } & Dropped)
  /** A run was done elsewhere, such as by hand. */
  | { readonly event: 'settled'; readonly job: string; readonly due: string; readonly record: JobRecord }
  | { readonly event: 'begin'; readonly job: string; readonly due: string; readonly trigger: DueRun['trigger'] }
  | { readonly event: 'end'; readonly job: string; readonly seconds: number; readonly record: JobRecord }
  /** A run could not start or failed, and will be retried. */
  | {
      readonly event: 'retry';
      readonly job: string;
      readonly due: string;
      readonly seconds: number;
      readonly message: string;
    }
  | { readonly event: 'failed'; readonly job: string; readonly due: string; readonly message: string }
  /** A run is not done at the time by which it was expected. */
  | { readonly event: 'late'; readonly job: string; readonly due: string; readonly by: string }
  /** A store cannot be reached at the start; it is tried again. */
  | { readonly event: 'unreachable'; readonly seconds: number; readonly message: string }
  | { readonly event: 'draining' };

export interface WarehouseQueueOptions {
  readonly actions: JobActions;
  readonly effects: Effects;
  /** Called once for each run that becomes late. */
  readonly onLate: (job: ScheduledJob, run: LateRun) => void;
  /** Aborted to start no further runs. */
  readonly drain: AbortSignal;
  /** Aborted to stop the current run. */
  readonly stop: AbortSignal;
  readonly onEvent: (event: ScheduleEvent) => void;
  readonly onProgress?: ((job: string) => void) | undefined;
}

/** Maximum time between two polls of the clock, which may jump, or change while the machine is suspended. */
const POLL_MS = 30_000;

/** Runs the jobs of one warehouse one after the other, oldest first, until stopped. A run that waits for a retry does not delay others. */
export async function serveWarehouse(queues: readonly JobQueue[], options: WarehouseQueueOptions): Promise<void> {
  const { drain, effects, onEvent, onLate } = options;
  let running: JobQueue | undefined;
  const settleIfDone = async (queue: JobQueue, due: number): Promise<boolean> => {
    const record = await queue.findDone(due);
    if (record === undefined) return false;
    queue.settle({ due }, 'done');
    onEvent({ event: 'settled', job: queue.job.name, due: record.due, record });
    return true;
  };
  const reportLate = async (): Promise<void> => {
    for (const { queue, late } of queues.flatMap((each) => each.takeLate().map((late) => ({ queue: each, late })))) {
      // While a job runs, nobody else can run it, and its records change.
      if (queue !== running && (await settleIfDone(queue, late.due))) continue;
      const [due, by] = [late.due, late.by].map((ms) => new Date(ms).toISOString());
      onEvent({ event: 'late', job: queue.job.name, due: due ?? '', by: by ?? '' });
      onLate(queue.job, late);
    }
  };
  while (!drain.aborted) {
    await reportLate();
    const queue = oldest(queues);
    if (queue === undefined) {
      await pause(effects, untilNext(queues, effects.now()), drain);
      continue;
    }
    const run = queue.next();
    if (run === undefined) continue;
    if (!(await settleIfDone(queue, run.due))) {
      if (drain.aborted) return;
      running = queue;
      // Also while a run hangs.
      const timer = setInterval(() => void reportLate(), POLL_MS);
      await runOne(queue, run, { ...options, reportLate: () => void reportLate() }).finally(() => clearInterval(timer));
      running = undefined;
    }
    onEvent(watching(queue));
  }
}

/** The event with the next due time of a job. */
export function watching(queue: JobQueue): ScheduleEvent {
  const next = queue.nextTime();
  return {
    event: 'watching',
    job: queue.job.name,
    next: next === undefined ? undefined : new Date(next).toISOString(),
  };
}

async function runOne(
  queue: JobQueue,
  run: DueRun,
  options: WarehouseQueueOptions & { readonly reportLate: () => void },
): Promise<void> {
  const { actions, effects, stop, onEvent, onProgress, reportLate } = options;
  const { job } = queue;
  const { name } = job;
  const due = new Date(run.due).toISOString();
  onEvent({ event: 'begin', job: name, due, trigger: run.trigger });
  const startedAt = effects.monotonic();
  const noteProgress = (): void => {
    onProgress?.(name);
    reportLate();
  };
  const request = { job, actions, effects, due: run.due, trigger: run.trigger, stop, onEvent: noteProgress };
  const outcome = await runJob(request).catch((error: unknown) => ({ record: undefined, error }));
  const seconds = (effects.monotonic() - startedAt) / 1000;
  const { record, error } = outcome;
  if (record !== undefined) onEvent({ event: 'end', job: name, seconds, record });
  else onEvent({ event: 'failed', job: name, due, message: formatError(error) });
  const delayMs = queue.settle(run, record?.state === 'done' ? 'done' : isTransient(error) ? 'retry' : 'failed');
  if (delayMs !== undefined)
    onEvent({ event: 'retry', job: name, due, seconds: delayMs / 1000, message: formatError(error) });
}

/** The queue with the oldest due run. */
function oldest(queues: readonly JobQueue[]): JobQueue | undefined {
  let found: JobQueue | undefined;
  for (const queue of queues) {
    const due = queue.next()?.due;
    if (due !== undefined && due < (found?.next()?.due ?? Number.POSITIVE_INFINITY)) found = queue;
  }
  return found;
}

function untilNext(queues: readonly JobQueue[], now: number): number {
  return Math.max(1, Math.min(POLL_MS, ...queues.map((queue) => queue.nextStart() - now)));
}

async function pause(effects: Effects, ms: number, stop: AbortSignal): Promise<void> {
  await effects.sleep(ms, stop).catch((error: unknown) => {
    if (!stop.aborted) throw error;
  });
}
