import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Effects } from '../core/effects.ts';
import { jsonAs } from '../core/json-as.ts';
import { ifAny } from '../files/disk.ts';
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

/** Missed runs: the number to catch up on, and whether older ones are dropped. */
export interface Missed {
  readonly event: 'missed';
  readonly count: number;
  readonly givenUp: boolean;
}

/** Runs that are dropped because newer ones are due. */
export interface Dropped {
  readonly event: 'dropped';
  readonly count: number;
}

/** A run that is not done at the time by which it was expected. Milliseconds since 1970. */
export interface LateRun {
  readonly due: number;
  readonly by: number;
}

/** Result of an attempt. `retry`: it failed, and may succeed later. */
export type AttemptResult = 'done' | 'retry' | 'failed';

interface WaitingRun extends DueRun {
  readonly attempts: number;
  /** Milliseconds since 1970. Infinity: after the job's next success. */
  readonly tryAt: number;
}

/** Delay of the first retry; it doubles up to the longest. */
const FIRST_RETRY_MS = 300_000;
const MAX_RETRY_MS = 3_600_000;

/**
 * The due runs of one job, oldest first. A run waits until it is done, or until `catch_up` newer ones are due. Runs are read from the records
 * of the job, so it continues after a restart.
 */
export class JobQueue {
  readonly job: ScheduledJob;
  readonly #history: JobHistory;
  readonly #effects: Effects;
  readonly #onMissed: (missed: Missed | Dropped) => void;
  #waiting: WaitingRun[] = [];
  /** Due times of finished runs, in case the clock is set back. */
  readonly #done = new Set<number>();
  /** Due times of runs that were reported as late. */
  readonly #late = new Set<number>();
  /** Runs due up to here are done, waiting, or dropped. */
  #seen: number;
  /** The next due time after that, cached because every poll of the clock needs it. */
  #upcoming: number | undefined;

  private constructor(
    job: ScheduledJob,
    history: JobHistory,
    effects: Effects,
    onMissed: (missed: Missed | Dropped) => void,
  ) {
    this.job = job;
    this.#history = history;
    this.#effects = effects;
    this.#onMissed = onMissed;
    this.#seen = effects.now();
  }

  static async open(
    job: ScheduledJob,
    effects: Effects,
    onMissed: (missed: Missed | Dropped) => void,
  ): Promise<JobQueue> {
    const history = await JobHistory.open(job.warehouse, job.name);
    const queue = new JobQueue(job, history, effects, onMissed);
    await queue.#catchUp(await history.read());
    return queue;
  }

  /** The oldest due run that may start now. */
  next(): DueRun | undefined {
    const now = this.#effects.now();
    this.#enqueue(now);
    return this.#waiting.find(({ tryAt }) => tryAt <= now);
  }

  /** Runs that have become late since the last call, also if they wait for another job. */
  takeLate(): readonly LateRun[] {
    const now = this.#effects.now();
    this.#enqueue(now);
    const late = this.#waiting.flatMap(({ due }): LateRun[] => {
      const by = this.job.schedule.expected.after(due) ?? Number.POSITIVE_INFINITY;
      return by <= now && !this.#late.has(due) ? [{ due, by }] : [];
    });
    for (const { due } of late) this.#late.add(due);
    return late;
  }

  /** The record of a due time that is done, such as of a run that somebody started by hand; undefined if there is none, or it cannot be read. */
  async findDone(due: number): Promise<JobRecord | undefined> {
    const records = await this.#history.readDue(due).catch(() => []);
    return records.find(({ state }) => state === 'done');
  }

  /** Adds runs that have become due. */
  #enqueue(now: number): void {
    if (now < this.#seen) this.#goBack(now);
    if (now <= this.#seen || now < (this.nextTime() ?? Number.POSITIVE_INFINITY)) return;
    this.#upcoming = undefined;
    const { times, catchUp } = this.job.schedule;
    // A run that comes due during the previous one waits, even without catch-up.
    const most = Math.max(1, catchUp);
    const due = times.between(this.#seen, now, most + 1).filter((time) => !this.#done.has(time));
    const waiting = [...this.#waiting, ...due.map((time) => waitingRun(time, 'schedule'))];
    const oldest = times.between(0, now, most)[0] ?? now;
    this.#waiting = waiting.filter((run) => run.due >= oldest);
    const count = waiting.length - this.#waiting.length;
    if (count > 0) this.#onMissed({ event: 'dropped', count });
    this.#seen = now;
  }

  /** Removes a finished run, and makes failed ones start again. @returns the delay of a retry in milliseconds */
  settle({ due }: Pick<DueRun, 'due'>, result: AttemptResult): number | undefined {
    const run = this.#waiting.find((each) => each.due === due);
    if (result === 'done') {
      this.#done.add(due);
      this.#waiting = this.#waiting
        .filter((each) => each !== run)
        .map((each) => (each.tryAt === Number.POSITIVE_INFINITY ? { ...each, tryAt: 0 } : each));
    }
    if (run === undefined || result === 'done') return undefined;
    const attempts = run.attempts + 1;
    const delayMs = Math.min(FIRST_RETRY_MS * 2 ** (attempts - 1), MAX_RETRY_MS);
    const tryAt = result === 'retry' ? this.#effects.now() + delayMs : Number.POSITIVE_INFINITY;
    this.#waiting = this.#waiting.map((each) => (each === run ? { ...each, attempts, tryAt } : each));
    return result === 'retry' ? delayMs : undefined;
  }

  /** The clock was set back: unfinished runs become due again at their time. */
  #goBack(now: number): void {
    this.#waiting = this.#waiting
      .filter(({ due }) => due <= now)
      .map((run) => (run.tryAt === Number.POSITIVE_INFINITY ? run : { ...run, tryAt: 0 }));
    this.#seen = now;
    this.#upcoming = undefined;
  }

  /** Due time of the next run that is neither done nor waiting. */
  nextTime(): number | undefined {
    this.#upcoming ??= this.job.schedule.times.after(this.#seen);
    return this.#upcoming;
  }

  /** The earliest time at which a run may start. */
  nextStart(): number {
    return Math.min(this.nextTime() ?? Number.POSITIVE_INFINITY, ...this.#waiting.map(({ tryAt }) => tryAt));
  }

  /**
   * Queues unfinished runs, runs that came due since the last one, or since the job was first scheduled, and failed ones among the newest
   * `catch_up` due times.
   */
  async #catchUp(records: readonly JobRecord[]): Promise<void> {
    const { times, catchUp } = this.job.schedule;
    const since = await readSince(this.#history);
    const now = this.#seen;
    const done = new Set(records.filter(({ state }) => state === 'done').map(dueOf));
    const begun = unfinished(records).filter(isScheduled).map(dueOf);
    const isUndone = (due: number): boolean => !done.has(due) && !begun.includes(due);
    const over = records.filter((record) => isOver(record.state) && isScheduled(record)).map(dueOf);
    const oldest = catchUp === 0 ? Number.POSITIVE_INFINITY : (times.between(0, now, catchUp)[0] ?? now);
    const failed = over.filter((due) => due > (since ?? now) && due >= oldest && isUndone(due));
    const missed = times.between(Math.max(since ?? now, ...over), now, catchUp + 1).filter(isUndone);
    const newest = catchUp === 0 ? [] : missed.slice(-catchUp);
    const due = [...new Set([...begun, ...failed, ...newest])].sort((a, b) => a - b);
    this.#waiting.push(...due.map((time) => waitingRun(time, 'catch-up')));
    const givenUp = missed.length > newest.length;
    // Dropped runs stay dropped after a restart.
    if (since === undefined || givenUp) await this.#watchSince((newest[0] ?? now + 1) - 1);
    if (due.length > 0 || givenUp) this.#onMissed({ event: 'missed', count: due.length, givenUp });
  }

  async #watchSince(since: number): Promise<void> {
    const text = `${JSON.stringify({ since: new Date(since).toISOString() })}\n`;
    await this.#history.writeFile('schedule.json', text, this.#effects);
  }
}

function waitingRun(due: number, trigger: DueRun['trigger']): WaitingRun {
  return { due, trigger, attempts: 0, tryAt: 0 };
}

/** When the job was first scheduled, or when the last missed run was dropped. */
async function readSince(history: JobHistory): Promise<number | undefined> {
  const text = await ifAny(readFile(join(history.folder, 'schedule.json'), 'utf8'));
  // Files are written atomically, so an unreadable one was not written by tonlake.
  const watched = jsonAs(watchSchema, text ?? '');
  return watched && Date.parse(watched.since);
}

function isScheduled({ trigger }: JobRecord): boolean {
  return trigger !== 'manual';
}

function dueOf({ due }: JobRecord): number {
  return Date.parse(due);
}
