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
  /** `catch-up`: it came due while no schedule ran. */
  readonly trigger: 'schedule' | 'catch-up';
}

const watchSchema = z.object({ since: z.iso.datetime() });

/** Runs that came due while nobody could run them: how many are made up for, and whether older ones are given up. */
export interface Missed {
  readonly count: number;
  readonly givenUp: boolean;
}

/** The runs of one job that are due and not done, oldest first. What was done is read from its records, so a restart goes on. */
export class JobQueue {
  readonly job: ScheduledJob;
  readonly #history: JobHistory;
  readonly #effects: Effects;
  readonly #onMissed: (missed: Missed) => void;
  readonly #waiting: DueRun[] = [];
  /** Times up to here are done, waiting, or given up. */
  #seen: number;
  /** The first time after that; found once, because it is asked for at every look at the clock. */
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

  /** The oldest run that is due by now. */
  next(): DueRun | undefined {
    const now = this.#effects.now();
    if (now > this.#seen && now >= (this.nextTime() ?? Number.POSITIVE_INFINITY)) {
      this.#upcoming = undefined;
      // A run that comes due while the one before is under way waits, whatever is made up for.
      const most = Math.max(1, this.job.schedule.catchUp);
      const times = this.job.schedule.times.between(this.#seen, now, most + 1);
      this.#waiting.push(...times.map((due) => ({ due, trigger: 'schedule' as const })));
      const givenUp = this.#waiting.splice(0, this.#waiting.length - most);
      if (givenUp.length > 0) this.#onMissed({ count: this.#waiting.length, givenUp: true });
      this.#seen = now;
    }
    return this.#waiting[0];
  }

  /** The oldest run is over. */
  shift(): void {
    this.#waiting.shift();
  }

  /** When the next run comes due, of those that are neither done nor waiting. */
  nextTime(): number | undefined {
    this.#upcoming ??= this.job.schedule.times.after(this.#seen);
    return this.#upcoming;
  }

  /** Takes what came due since the last run that is over, or since the job was first scheduled; and every run that was cut short. */
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
    // What is given up does not come back with the next start.
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

/** Since when the job has been scheduled, or when the last missed run was given up. */
async function readSince(history: JobHistory): Promise<number | undefined> {
  const text = await ifAny(readFile(join(history.folder, 'schedule.json'), 'utf8'));
  if (text === undefined) return undefined;
  try {
    return Date.parse(watchSchema.parse(JSON.parse(text)).since);
  } catch {
    // Half a file cannot be: somebody else wrote it. It is as if the job had never been scheduled.
    return undefined;
  }
}

function isScheduled({ trigger }: JobRecord): boolean {
  return trigger !== 'manual';
}

function dueOf({ due }: JobRecord): number {
  return Date.parse(due);
}
