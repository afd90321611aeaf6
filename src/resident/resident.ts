import { usage } from '../core/errors.ts';
import type { FollowEvent } from '../follow/follow-event.ts';
import { type FollowHeadOptions, followHead } from '../follow/follow-head.ts';
import { linkSignals } from '../http/linked-signal.ts';
import type { Job } from '../jobs/job.ts';
import { requireKind, warehousePath } from '../warehouse/index.ts';
import { runSchedule, type ScheduleOptions } from './schedule.ts';
import type { ScheduleEvent } from './warehouse-queue.ts';

/** Events of a resident process. */
export type ResidentEvent = FollowEvent | ScheduleEvent;

export interface ResidentOptions extends Omit<ScheduleOptions, 'onEvent'> {
  /** The head to follow. Default: none. */
  readonly head?: Omit<FollowHeadOptions, 'onEvent' | 'stop'> | undefined;
  readonly onEvent: (event: ResidentEvent) => void;
}

/**
 * Follows the head, runs jobs when they are due, or both. Jobs may write the followed warehouse, and start when it is open. A failure of one
 * stops the other. Returns after draining.
 *
 * @throws as `followHead` and `runSchedule`
 */
export async function reside(options: ResidentOptions): Promise<void> {
  const { head, jobs, onEvent } = options;
  if (head === undefined) return runSchedule(options);
  await requireReadable(head, jobs);
  const link = linkSignals([options.drain]);
  const drain = link.signal;
  const linked = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      link.abort(error);
      throw error;
    }
  };
  let begin = (): void => undefined;
  const isOpen = new Promise<void>((resolve) => {
    begin = resolve;
    drain.addEventListener('abort', () => resolve(), { once: true });
  });
  const works = [
    linked(() =>
      followHead({
        ...head,
        stop: drain,
        onEvent,
        onOpen: (status) => {
          head.onOpen?.(status);
          begin();
        },
      }),
    ),
    linked(async () => {
      await isOpen;
      if (jobs.length > 0 && !drain.aborted) await runSchedule({ ...options, drain });
    }),
  ];
  const ends = await Promise.allSettled(works);
  link.release();
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/** @throws {UsageError} for jobs on a warehouse that nobody can read while the head is followed */
async function requireReadable({ warehouse, store }: FollowHeadOptions, jobs: readonly Job[]): Promise<void> {
  const { kind } = await requireKind(warehouse, store);
  const own = jobs.find((job) => warehousePath(job.warehouse) === warehousePath(warehouse));
  if (kind !== 'duckdb' || own === undefined) return;
  throw usage(
    'jobs of other warehouses than the followed DuckDB file',
    own.file,
    'follow a folder of Parquet files: --store parquet',
  );
}
