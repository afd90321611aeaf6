import type { Effects } from '../core/effects.ts';
import { formatError, usage } from '../core/errors.ts';
import { groupBy } from '../core/group-by.ts';
import { closeAll } from '../files/file-failure.ts';
import type { Lock } from '../files/writer-lock.ts';
import { linkSignals } from '../http/linked-signal.ts';
import type { Retry } from '../http/retry.ts';
import type { Job } from '../jobs/job.ts';
import type { JobActions } from '../jobs/job-actions.ts';
import { notifyLate } from '../jobs/notify.ts';
import { lockJobs } from '../jobs/run-history.ts';
import { warehousePath } from '../warehouse/index.ts';
import { JobQueue, type LateRun, type ScheduledJob } from './job-queue.ts';
import { untilReachable } from './until-reachable.ts';
import { type ScheduleEvent, serveWarehouse, watching } from './warehouse-queue.ts';

export interface ScheduleOptions {
  readonly jobs: readonly Job[];
  readonly actions: JobActions;
  readonly effects: Effects;
  /** Aborted to start no further runs, and to return when the current ones have ended. */
  readonly drain: AbortSignal;
  /** Time for current runs to end then, before they are stopped after the current span or step. */
  readonly drainMs: number;
  readonly onEvent: (event: ScheduleEvent) => void;
  /** Called for each activity of a running job. */
  readonly onProgress?: ((job: string) => void) | undefined;
}

/**
 * Runs jobs when they are due: jobs on the same warehouse one after the other, others in parallel. Returns after draining.
 *
 * @throws {UsageError} if no job has a schedule
 * @throws {StoreError} `busy` if another scheduler uses one of the warehouses; `lease-lost` after draining if one has taken it over
 */
export async function runSchedule(options: ScheduleOptions): Promise<void> {
  const { effects, actions, onEvent } = options;
  const groups = jobsByWarehouse(options.jobs);
  const locks: Lock[] = [];
  // Who has lost the lease of a warehouse starts no run there, and ends, because another schedule does.
  const link = linkSignals([options.drain]);
  const drain = link.signal;
  const stop = stopAfterDrain({ ...options, drain });
  const leases: AbortSignal[] = [];
  const endWith = (lost: AbortSignal): void => {
    leases.push(lost);
    if (lost.aborted) link.abort(lost.reason);
    else lost.addEventListener('abort', () => link.abort(lost.reason), { once: true });
  };
  const notices = new Set<Promise<void>>();
  const onLate = (job: ScheduledJob, run: LateRun): void => {
    const sent = notifyLate(job, actions, run).then(() => void notices.delete(sent));
    notices.add(sent);
  };
  const onWait = ({ error, sleepMs }: Pick<Retry, 'error' | 'sleepMs'>): void =>
    onEvent({ event: 'unreachable', seconds: Math.ceil(sleepMs / 1000), message: formatError(error) });
  const reach = <T>(work: () => Promise<T>): Promise<T> => untilReachable(work, { effects, stop: drain, onWait });
  try {
    for (const [first] of groups) {
      if (first === undefined) continue;
      const lock = await reach(() => lockJobs(first.warehouse, 'schedule', effects, 'tonlake job schedule'));
      locks.push(lock);
      if ('lost' in lock) endWith(lock.lost);
    }
    const queues = await Promise.all(
      groups.map((jobs) => Promise.all(jobs.map((job) => reach(() => openQueue(job, options))))),
    );
    const { signal } = stop;
    await Promise.all(queues.map((group) => serveWarehouse(group, { ...options, drain, stop: signal, onLate })));
    for (const signal of leases) if (signal.aborted) throw signal.reason;
  } finally {
    stop.close();
    link.release();
    await Promise.all(notices);
    await closeAll(locks.map((lock) => () => lock.release()));
  }
}

async function openQueue(job: ScheduledJob, { effects, onEvent }: ScheduleOptions): Promise<JobQueue> {
  const queue = await JobQueue.open(job, effects, (missed) => onEvent({ job: job.name, ...missed }));
  onEvent(watching(queue));
  return queue;
}

/** The jobs with a schedule, by warehouse. */
function jobsByWarehouse(jobs: readonly Job[]): readonly (readonly ScheduledJob[])[] {
  const groups = [...groupBy(jobs.filter(isScheduled), ({ warehouse }) => warehousePath(warehouse)).values()];
  for (const group of groups) requireNames(group, 'their records would share a folder in the warehouse');
  if (groups.length > 0) return groups;
  throw usage('jobs with a schedule', 'none', "schedule: {cron: '15 3 * * *'} in a job file; see docs/jobs.md");
}

/** @param why what jobs of the same name would share @throws {UsageError} */
export function requireNames(jobs: readonly Pick<Job, 'name' | 'file'>[], why: string): void {
  for (const [first, second] of groupBy(jobs, ({ name }) => name).values()) {
    if (first === undefined || second === undefined) continue;
    throw usage('jobs of different names', `${first.file} and ${second.file}`, `${why}: rename a file`);
  }
}

function isScheduled(job: Job): job is ScheduledJob {
  return job.schedule !== undefined;
}

/** A signal that stops the current runs `drainMs` after draining starts. */
function stopAfterDrain({ effects, drain, drainMs, onEvent }: ScheduleOptions): {
  readonly signal: AbortSignal;
  close(): void;
} {
  const stop = new AbortController();
  const over = new AbortController();
  const begin = (): void => {
    onEvent({ event: 'draining' });
    effects.sleep(drainMs, over.signal).then(
      () => stop.abort(),
      () => undefined,
    );
  };
  if (drain.aborted) begin();
  else drain.addEventListener('abort', begin, { once: true });
  return {
    signal: stop.signal,
    close: () => {
      drain.removeEventListener('abort', begin);
      over.abort();
    },
  };
}
