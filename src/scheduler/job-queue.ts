import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Effects } from '../core/effects.ts';
import { ifAny, makeFolder, replaceText } from '../files/disk.ts';
import { guarded } from '../files/file-failure.ts';
import type { Job, JobSchedule } from '../jobs/job.ts';
import { JobHistory, unfinished } from '../jobs/run-history.ts';
import { isOver, type JobRecord } from '../jobs/run-record.ts';

/** A job that has a schedule. */
export type ScheduledJob = Job & { readonly schedule: JobSchedule };

/** A run that is due. */
export interface DueRun {
  readonly due: number;
  /** `catch-up`: it was due while the scheduler was not running. */
  readonly trigger: 'schedule' | 'catch-up';
}

const watchSchema = z.object({ since: z.iso.datetime() });

/** Missed runs: how many are caught up, and whether older ones are dropped. */
export interface Missed {
  readonly count: number;
  readonly givenUp: boolean;
}

/** The due runs of one job, oldest first. Finished runs are read from its records, so it continues after a restart. */
export class JobQueue {
  readonly job: ScheduledJob;
  readonly #history: JobHistory;
  readonly #effects: Effects;
  readonly #onMissed: (missed: Missed) => void;
  #waiting: DueRun[] = [];
  /** Due times whose runs are done, in case that the clock is set back. */
  readonly #done = new Set<number>();
  /** Runs due up to here are done, waiting, or dropped. */
  #seen: number;
  /** The next due time after that, cached because it is needed at every look at the clock. */
  #upcoming: number | undefined;

  private constructor(job: ScheduledJob, history: JobHistory, effects: Effects, onMissed: (missed: Missed) => void) {
    this.job = job;
    this.#history = history;
    this.#effects = effects;
    this.#onMissed = onMissed;
    this.#seen = effects.now();
  }

  static async open(job: ScheduledJob, effects: Effects, onMissed: (missed: Missed) => void): Promise<JobQueue> {
    const history = await JobHistory.open(job.warehouse, job.name);
    const queue = new JobQueue(job, history, effects, onMissed);
    await queue.#catchUp(await history.read());
    return queue;
  }

  /** The oldest due run. */
  next(): DueRun | undefined {
    const now = this.#effects.now();
    if (now < this.#seen) this.#goBack(now);
    if (now > this.#seen && now >= (this.nextTime() ?? Number.POSITIVE_INFINITY)) {
      this.#upcoming = undefined;
      // A run that comes due during the previous one waits, even without catch-up.
      const most = Math.max(1, this.job.schedule.catchUp);
      const times = this.job.schedule.times.between(this.#seen, now, most + 1).filter((due) => !this.#done.has(due));
      this.#waiting.push(...times.map((due) => ({ due, trigger: 'schedule' as const })));
      const givenUp = this.#waiting.splice(0, this.#waiting.length - most);
      if (givenUp.length > 0) this.#onMissed({ count: this.#waiting.length, givenUp: true });
      this.#seen = now;
    }
    return this.#waiting[0];
  }

  /** Removes the oldest run, which has ended. */
  shift(isDone: boolean): void {
    const ended = this.#waiting.shift();
    if (isDone && ended !== undefined) this.#done.add(ended.due);
  }

  /** The clock was ahead: what was not done by it comes due at its time. */
  #goBack(now: number): void {
    this.#waiting = this.#waiting.filter(({ due }) => due <= now);
    this.#seen = now;
    this.#upcoming = undefined;
  }

  /** Due time of the next run that is neither done nor waiting. */
  nextTime(): number | undefined {
    this.#upcoming ??= this.job.schedule.times.after(this.#seen);
    return this.#upcoming;
  }

  /** Queues runs that came due since the last finished one, or since the job was first scheduled, and unfinished runs. */
  async #catchUp(records: readonly JobRecord[]): Promise<void> {
    const { times, catchUp } = this.job.schedule;
    const since = await readSince(this.#history);
    const now = this.#seen;
    const done = new Set(records.filter(({ state }) => isOver(state)).map(dueOf));
    const begun = unfinished(records).filter(isScheduled).map(dueOf);
    const from = Math.max(
      since ?? now,
      ...records
        .filter(({ state }) => isOver(state))
        .filter(isScheduled)
        .map(dueOf),
    );
    const missed = times.between(from, now, catchUp + 1).filter((due) => !done.has(due) && !begun.includes(due));
    const kept = catchUp === 0 ? [] : missed.slice(-catchUp);
    const due = [...new Set([...begun, ...kept])].sort((a, b) => a - b);
    this.#waiting.push(...due.map((time) => ({ due: time, trigger: 'catch-up' as const })));
    const givenUp = missed.length > kept.length;
    // Dropped runs stay dropped after a restart.
    if (since === undefined || givenUp) await this.#watchSince((kept[0] ?? now + 1) - 1);
    if (due.length > 0 || givenUp) this.#onMissed({ count: due.length, givenUp });
  }

  async #watchSince(since: number): Promise<void> {
    await guarded(`history of ${this.job.name}`, async () => {
      await makeFolder(this.#history.folder);
      const text = `${JSON.stringify({ since: new Date(since).toISOString() })}\n`;
      await replaceText(join(this.#history.folder, 'schedule.json'), text, this.#effects.freshId());
    });
  }
}

/** When the job was first scheduled, or when the last missed run was dropped. */
async function readSince(history: JobHistory): Promise<number | undefined> {
  const text = await ifAny(readFile(join(history.folder, 'schedule.json'), 'utf8'));
  if (text === undefined) return undefined;
  try {
    return Date.parse(watchSchema.parse(JSON.parse(text)).since);
  } catch {
    // The file was not written by tonlake, which never leaves a partial one: treated as never scheduled.
    return undefined;
  }
}

function isScheduled({ trigger }: JobRecord): boolean {
  return trigger !== 'manual';
}

function dueOf({ due }: JobRecord): number {
  return Date.parse(due);
}
