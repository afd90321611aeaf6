import type { Effects } from '../core/effects.ts';
import { formatError, JobError, TonlakeError } from '../core/errors.ts';
import { dateAt } from '../core/time-zone.ts';
import type { RunEvent } from '../export/run.ts';
import { readMark } from '../files/process-liveness.ts';
import { BusyError } from '../files/writer-lock.ts';
import { linkSignals } from '../http/linked-signal.ts';
import { trimGrownProcess } from '../sql/freed-memory.ts';
import { warehousePath } from '../warehouse/index.ts';
import type { Job } from './job.ts';
import type { JobActions } from './job-actions.ts';
import type { Fixed, StepContext } from './job-step.ts';
import { buildMarts, exportRange, fixRun, requireReady, runChecks, skipExport } from './job-steps.ts';
import { compactFiles, publishIceberg, verifyRows } from './maintenance.ts';
import { notifyAll, notifyUnrecorded } from './notify.ts';
import { publish, stageOutputs, writeDatabases } from './outputs.ts';
import { moveOutputs, Publication } from './publish.ts';
import { forgetOldRows } from './retention-step.ts';
import { freshRecordId, JobHistory, lockJobs, unfinished } from './run-history.ts';
import { RunLog } from './run-log.ts';
import { faultOf, hasNothingNew, type JobRecord, type StagedOutput, type StepResult } from './run-record.ts';

export interface JobRunOptions {
  readonly job: Job;
  readonly actions: JobActions;
  readonly effects: Effects;
  /** Due time of the run, milliseconds since 1970. Default: now, or an unfinished run of today is resumed. */
  readonly due?: number | undefined;
  readonly trigger?: JobRecord['trigger'] | undefined;
  /** Aborted to stop after the current span or step. */
  readonly stop?: AbortSignal | undefined;
  /** Called for each event, including those of the export. */
  readonly onEvent?: ((event: JobEvent | RunEvent) => void) | undefined;
}

/** Events of a run. */
export type JobEvent =
  | {
      readonly event: 'begin';
      readonly job: string;
      readonly id: string;
      readonly due: string;
      readonly attempt: number;
    }
  | ({ readonly event: 'step' } & StepResult);

export interface JobOutcome {
  readonly record: JobRecord;
  /** The failure of the run, or why it lost its lease; undefined if it did not fail. */
  readonly error: unknown;
}

/**
 * Runs a job: export, verification, compaction, marts, checks, outputs (published together or not at all), retention, and Iceberg tables.
 * An unfinished run is resumed with the same range.
 *
 * @throws {JobError} `runs-already` if another process runs it {StoreError} `busy` if it runs another job on the same warehouse
 */
export async function runJob(options: JobRunOptions): Promise<JobOutcome> {
  const { job, actions, effects, trigger = 'manual', due = effects.now() } = options;
  try {
    return await runLocked(options);
  } catch (error) {
    // The failure is not recorded: the warehouse is unreachable, or full.
    const isBusy = error instanceof TonlakeError && ['busy', 'runs-already'].includes(error.code);
    if (!isBusy && (trigger === 'manual' || !isTransient(error))) await notifyUnrecorded(job, actions, due, error);
    throw error;
  }
}

async function runLocked(options: JobRunOptions): Promise<JobOutcome> {
  const { job, effects } = options;
  const lock = await lockRun(job, effects);
  const lost = 'lost' in lock ? lock.lost : undefined;
  const link = linkSignals([options.stop, lost]);
  try {
    const history = await JobHistory.open(job.warehouse, job.name);
    await history.tidy();
    const outcome = await new JobRun({ ...options, stop: link.signal }, history, await history.read()).run();
    const isCut = outcome.record.state === 'interrupted' && lost?.aborted === true;
    return isCut ? { ...outcome, error: lost.reason } : outcome;
  } finally {
    link.release();
    await lock.release();
  }
}

/** @throws {JobError} `runs-already` if another process runs the same job {StoreError} `busy` if it runs another one */
async function lockRun({ name, warehouse }: Job, effects: Effects): ReturnType<typeof lockJobs> {
  const command = `tonlake job run ${name}`;
  return lockJobs(warehouse, 'run', effects, command).catch((error: unknown) => {
    if (!(error instanceof BusyError) || error.command !== command) throw error;
    const { by, hint } = error;
    throw new JobError(`job ${name}: is run already ${by}`, {
      code: 'runs-already',
      retryable: true,
      hint,
      cause: error,
    });
  });
}

class JobRun {
  readonly #options: JobRunOptions;
  readonly #history: JobHistory;
  readonly #stop: AbortSignal;
  /** Records of earlier runs, and of this one if it is resumed. */
  readonly #records: readonly JobRecord[];
  #record: JobRecord;

  constructor(options: JobRunOptions, history: JobHistory, records: readonly JobRecord[]) {
    const { effects, due = effects.now() - (effects.now() % 1000) } = options;
    this.#options = options;
    this.#history = history;
    this.#stop = options.stop ?? new AbortController().signal;
    this.#records = records;
    this.#record = unfinished(records).find((record) => this.#isSame(record, due)) ?? this.#fresh(due);
  }

  async run(): Promise<JobOutcome> {
    const { job, effects } = this.#options;
    await this.#endOthers();
    await this.#begin();
    const { id, attempts, due } = this.#record;
    this.#options.onEvent?.({ event: 'begin', job: job.name, id, due, attempt: attempts.length });
    const log = new RunLog(this.#history.folder, this.#record, effects);
    log.write(`attempt ${attempts.length} of the run of ${due} begins`);
    const context = this.#contextOf(log);
    const outcome = await this.#work(context).then(
      (state) => ({ state, error: undefined }),
      (error: unknown) => ({ state: 'failed' as const, error }),
    );
    await this.#end(outcome.state, outcome.error);
    const isOver = outcome.state !== 'interrupted' && !willBeRetried(this.#record, outcome.error);
    if (isOver && !isRepeated(this.#record, this.#records)) await notifyAll(context, this.#record);
    log.write([outcome.state, ...(outcome.error === undefined ? [] : [formatError(outcome.error)])].join(': '));
    await log.close();
    await this.#history.shareLog(this.#record);
    return { record: this.#record, error: outcome.error };
  }

  /** Changes and stores the record. */
  async #save(change: Partial<JobRecord>): Promise<void> {
    this.#record = { ...this.#record, ...change };
    await this.#history.write(this.#record, this.#options.effects);
  }

  /** Starts or resumes the run. */
  async #begin(): Promise<void> {
    const { state } = this.#record;
    const attempts = [...this.#record.attempts, { startedAt: this.#now(), owner: await readMark() }];
    // A run that was publishing has finished its steps.
    await this.#save(state === 'publishing' ? { attempts } : { attempts, state: 'running', steps: [] });
  }

  async #end(state: 'done' | 'failed' | 'interrupted', error: unknown): Promise<void> {
    const endedAt = this.#now();
    const attempts = this.#record.attempts.map((each, at, { length }) =>
      at < length - 1 ? each : { ...each, endedAt },
    );
    await this.#save({ state, attempts, ...(error === undefined ? {} : { error: faultOf(error) }) });
  }

  #now(): string {
    return new Date(this.#options.effects.now()).toISOString();
  }

  /** True if an unfinished run is the requested one. */
  #isSame(record: JobRecord, due: number): boolean {
    const { job, due: requested } = this.#options;
    const had = Date.parse(record.due);
    const isSameTime = requested === undefined ? dateAt(had, job.zone) === dateAt(due, job.zone) : had === requested;
    return isSameTime && record.digest === job.digest;
  }

  /**
   * Ends unfinished runs that are not resumed: publishing is completed, the others are abandoned. Scheduled ones wait for their turn.
   */
  async #endOthers(): Promise<void> {
    for (const record of unfinished(this.#records)) {
      const isWaiting = record.trigger !== 'manual' && record.due !== this.#record.due;
      if (record === this.#record || (isWaiting && record.state !== 'publishing')) continue;
      await this.#history.write({ ...record, ...(await finish(record)) }, this.#options.effects);
    }
  }

  #fresh(due: number): JobRecord {
    const { job, trigger = 'manual' } = this.#options;
    return {
      format: 1,
      id: freshRecordId(due, this.#records),
      job: job.name,
      file: job.file,
      digest: job.digest,
      network: job.network,
      warehouse: warehousePath(job.warehouse),
      pipelines: [...job.pipelines],
      zone: job.zone,
      trigger,
      due: new Date(due).toISOString(),
      state: 'running',
      attempts: [],
      steps: [],
      outputs: [],
    };
  }

  #contextOf(log: RunLog): StepContext {
    const { job, actions, effects, onEvent } = this.#options;
    const onStep = async (step: StepResult): Promise<void> => {
      await this.#save({ steps: [...this.#record.steps, step] });
      log.step(step);
      await this.#history.shareLog(this.#record);
      onEvent?.({ event: 'step', ...step });
    };
    const onRunEvent = (event: RunEvent): void => {
      log.onRunEvent(event);
      onEvent?.(event);
    };
    return { job, actions, effects, stop: this.#stop, onStep, onRunEvent };
  }

  async #work(context: StepContext): Promise<'done' | 'interrupted'> {
    const { due, state, publishedAt } = this.#record;
    const resumed = state === 'publishing';
    if (!resumed) {
      await requireReady(context);
      const fixed = fixedBy(this.#record) ?? (await fixRun(context, Date.parse(due), this.#records));
      await this.#save({ now: new Date(fixed.now).toISOString(), range: fixed.range });
      const outputs = hasNothingNew(this.#record) ? await skipAll(context) : await this.#prepare(context, fixed);
      if (outputs === undefined) return 'interrupted';
      await this.#save({ state: 'publishing', outputs: [...outputs] });
    }
    if (publishedAt === undefined) {
      await publish(context, this.#record.outputs, resumed);
      await this.#save({ publishedAt: this.#now() });
    }
    const fixed = fixedBy(this.#record);
    // Last, because a later attempt that stages the outputs again needs the same rows.
    if (fixed !== undefined && !hasNothingNew(this.#record)) await forgetOldRows(context, fixed);
    await publishIceberg(context);
    return 'done';
  }

  /** Runs all steps up to the staged outputs. @returns undefined if the run was stopped */
  async #prepare(context: StepContext, fixed: Fixed): Promise<readonly StagedOutput[] | undefined> {
    const { name, warehouse } = context.job;
    const publication = new Publication(name, warehousePath(warehouse), this.#record.id);
    try {
      const steps = [
        () => exportRange(context, fixed),
        () => verifyRows(context, this.#records),
        () => compactFiles(context),
        () => buildMarts(context),
        () => runChecks(context),
        () => stageOutputs(context, fixed, publication),
        () => writeDatabases(context, fixed),
      ];
      for (const step of steps) {
        await trimGrownProcess();
        await step();
        if (this.#stop.aborted) {
          await publication.discard();
          return undefined;
        }
      }
      return publication.outputs;
    } catch (error) {
      await publication.discard();
      throw error;
    }
  }
}

/** Replaces all steps if there are no new blocks: the outputs of the last run stay. */
async function skipAll(context: StepContext): Promise<readonly StagedOutput[]> {
  await skipExport(context, 'no new blocks; outputs are unchanged');
  return [];
}

/** True for an error after which a schedule retries the run. */
export function isTransient(error: unknown): boolean {
  return error instanceof TonlakeError && (error.retryable || error.code === 'busy');
}

/** True if the schedule will retry a failed run, so that no notification is needed unless it is late. */
function willBeRetried({ state, trigger }: JobRecord, error: unknown): boolean {
  return state === 'failed' && trigger !== 'manual' && isTransient(error);
}

/** True if a scheduled run fails in the same way as in the last attempt that sent a notification. */
function isRepeated(record: JobRecord, records: readonly JobRecord[]): boolean {
  if (record.state !== 'failed' || record.trigger === 'manual') return false;
  const before = records.findLast(
    ({ due, state, steps }) => due === record.due && state === 'failed' && steps.some(isSentNotice),
  );
  return before !== undefined && failureOf(before) === failureOf(record);
}

/** The code and the failed steps of a run. Messages have numbers that differ each time. */
function failureOf({ error, steps }: JobRecord): string {
  const failed = steps.filter(({ kind, status }) => kind !== 'notify' && status === 'failed');
  return JSON.stringify([error?.code, ...failed.map(({ kind, name }) => [kind, name])]);
}

function isSentNotice({ kind, status }: StepResult): boolean {
  return kind === 'notify' && status === 'done';
}

/** Ends an unfinished run that is not resumed: completes publishing, or abandons the run. */
async function finish(record: JobRecord): Promise<Partial<JobRecord>> {
  if (record.state !== 'publishing') return { state: 'abandoned' };
  try {
    if (record.publishedAt === undefined) await moveOutputs(record.outputs, true);
    return { state: 'done' };
  } catch (error) {
    return { state: 'failed', error: faultOf(error) };
  }
}

/** The moment and range of an earlier attempt. */
function fixedBy({ now, range }: JobRecord): Fixed | undefined {
  return now === undefined || range === undefined ? undefined : { now: Date.parse(now), range };
}
