import type { Effects } from '../core/effects.ts';
import { formatError, TonlakeError } from '../core/errors.ts';
import type { JobOutcome } from '../jobs/run-job.ts';
import type { JobRecord } from '../jobs/run-record.ts';
import type { DueRun, JobQueue, ScheduledJob } from './job-queue.ts';

/** Events of a schedule. */
export type ScheduleEvent =
  | { readonly event: 'watching'; readonly job: string; readonly next: string | undefined }
  /** Runs were missed; `givenUp` if there were more than are caught up. */
  | { readonly event: 'missed'; readonly job: string; readonly count: number; readonly givenUp: boolean }
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
  | { readonly event: 'problem'; readonly job: string; readonly due: string; readonly message: string }
  | { readonly event: 'draining' };

export interface WarehouseQueueOptions {
  readonly effects: Effects;
  /** Runs one job. */
  readonly runDue: (job: ScheduledJob, run: DueRun) => Promise<JobOutcome>;
  /** Aborted to start no further runs. */
  readonly stop: AbortSignal;
  readonly onEvent: (event: ScheduleEvent) => void;
}

/** Maximum time between two looks at the clock, which may be changed while the machine runs or sleeps. */
const LOOK_MS = 30_000;
/** Attempts and delay for transient failures, such as a day that the index has not reached yet. */
const TRIES = 4;
const RETRY_MS = 300_000;

/** Runs the jobs of one warehouse one after the other, oldest first, until stopped. */
export async function serveWarehouse(queues: readonly JobQueue[], options: WarehouseQueueOptions): Promise<void> {
  const { stop, effects, onEvent } = options;
  while (!stop.aborted) {
    const queue = oldest(queues);
    if (queue === undefined) {
      await pause(effects, untilNext(queues, effects.now()), stop);
      continue;
    }
    const run = queue.next();
    if (run === undefined) continue;
    queue.shift(await runOne(queue.job, run, options));
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

/** @returns true if the run is done */
async function runOne(job: ScheduledJob, run: DueRun, options: WarehouseQueueOptions): Promise<boolean> {
  const { effects, stop, onEvent, runDue } = options;
  const due = new Date(run.due).toISOString();
  for (let attempt = 1; ; attempt++) {
    onEvent({ event: 'begin', job: job.name, due, trigger: run.trigger });
    const startedAt = effects.monotonic();
    const outcome = await runDue(job, run).catch((error: unknown) => ({ record: undefined, error }));
    const seconds = (effects.monotonic() - startedAt) / 1000;
    const { record, error } = outcome;
    if (record !== undefined) onEvent({ event: 'end', job: job.name, seconds, record });
    else onEvent({ event: 'problem', job: job.name, due, message: formatError(error) });
    if (error === undefined || stop.aborted || attempt === TRIES || !isTransient(error))
      return record?.state === 'done';
    onEvent({ event: 'retry', job: job.name, due, seconds: RETRY_MS / 1000, message: formatError(error) });
    await pause(effects, RETRY_MS, stop);
    if (stop.aborted) return false;
  }
}

function isTransient(error: unknown): boolean {
  return error instanceof TonlakeError && (error.retryable || error.code === 'busy');
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
  const times = queues.flatMap((queue) => queue.nextTime() ?? []);
  return Math.max(1, Math.min(LOOK_MS, ...times.map((time) => time - now)));
}

async function pause(effects: Effects, ms: number, stop: AbortSignal): Promise<void> {
  await effects.sleep(ms, stop).catch((error: unknown) => {
    if (!stop.aborted) throw error;
  });
}
