import type { Effects } from '../core/effects.ts';
import { formatError, JobError, StoreError, TonlakeError } from '../core/errors.ts';
import { dateAt } from '../core/time-zone.ts';
import type { RunEvent } from '../export/run.ts';
import { readMark } from '../files/process-liveness.ts';
import { linkSignals } from '../http/linked-signal.ts';
import { warehousePath } from '../warehouse/index.ts';
import type { Job } from './job.ts';
import type { JobActions } from './job-actions.ts';
import type { Fixed, StepContext } from './job-step.ts';
import { buildMarts, exportRange, fixRun, requireReady, runChecks, skipExport } from './job-steps.ts';
import { compactFiles, publishIceberg, verifyRows } from './maintenance.ts';
import { notifyAll, notifyUnrecorded } from './notify.ts';
import { publish, stageOutputs, writeDatabases } from './outputs.ts';
import { Publication } from './publish.ts';
import { forgetOldRows } from './retention-step.ts';
import { freshRecordId, JobHistory, lockJobs, unfinished } from './run-history.ts';
import { RunLog } from './run-log.ts';
import { hasNothingNew, type JobRecord, type StagedOutput, type StepResult } from './run-record.ts';
import { RunRecordFile, settle } from './run-record-file.ts';

export interface JobRunOptions {
  readonly job: Job;
  readonly actions: JobActions;
  readonly effects: Effects;
  /** Due time of the run, milliseconds since 1970. Default: now, or an unfinished run of today is resumed. */
  readonly due?: number | undefined;
  readonly trigger?: JobRecord['trigger'] | undefined;
  /** Aborted to stop after the current span or step. */
  readonly stop?: AbortSignal | undefined;
  readonly onEvent?: ((event: JobEvent) => void) | undefined;
  readonly onRunEvent?: ((event: RunEvent) => void) | undefined;
}

/** What happens during a run of a job. */
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
  /** Why the run failed. */
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
    // The run has no record, or none with its failure: the warehouse cannot be reached, or is full.
    const isBusy = error instanceof TonlakeError && ['busy', 'runs-already'].includes(error.code);
    if (!isBusy && (trigger === 'manual' || !mayPass(error))) await notifyUnrecorded(job, actions, due, error);
    throw error;
  }
}

async function runLocked(options: JobRunOptions): Promise<JobOutcome> {
  const { job, effects } = options;
  const lock = await lockRun(job, effects);
  const link = linkSignals([options.stop, 'lost' in lock ? lock.lost : undefined]);
  try {
    const history = await JobHistory.open(job.warehouse, job.name);
    await history.tidy();
    return await new JobRun({ ...options, stop: link.signal }, history).run();
  } finally {
    link.release();
    await lock.release();
  }
}

/** @throws {JobError} `runs-already` if another process runs the same job {StoreError} `busy` if it runs another one */
async function lockRun({ name, warehouse }: Job, effects: Effects): ReturnType<typeof lockJobs> {
  const command = `tonlake job run ${name}`;
  return lockJobs(warehouse, 'run', effects, command).catch((error: unknown) => {
    if (!(error instanceof StoreError) || error.code !== 'busy' || !error.message.endsWith(`(${command})`)) throw error;
    const message = error.message.replace(/^store: .* is used by a job/, `job ${name}: is run already`);
    throw new JobError(message, { code: 'runs-already', retryable: true, hint: error.hint, cause: error });
  });
}

class JobRun {
  readonly #options: JobRunOptions;
  readonly #history: JobHistory;
  readonly #stop: AbortSignal;

  constructor(options: JobRunOptions, history: JobHistory) {
    this.#options = options;
    this.#history = history;
    this.#stop = options.stop ?? new AbortController().signal;
  }

  async run(): Promise<JobOutcome> {
    const { job, effects } = this.#options;
    const records = await this.#history.read();
    const due = this.#options.due ?? effects.now() - (effects.now() % 1000);
    const resumed = unfinished(records).find((record) => this.#isSame(record, due));
    await this.#settle(records, resumed, due);
    const begun = resumed ?? this.#fresh(due, records);
    const record = await RunRecordFile.begin(begun, await readMark(), { history: this.#history, effects });
    const { id, attempts } = record.value;
    this.#options.onEvent?.({ event: 'begin', job: job.name, id, due: begun.due, attempt: attempts.length });
    const log = new RunLog(this.#history.folder, begun, effects);
    log.tell(`attempt ${attempts.length} of the run of ${begun.due} begins`);
    const context = this.#contextOf(record, log);
    const outcome = await this.#work(context, record, records).then(
      (state) => ({ state, error: undefined }),
      (error: unknown) => ({ state: 'failed' as const, error }),
    );
    await record.end(outcome.state, outcome.error);
    const isOver = outcome.state !== 'interrupted' && !isTriedAgain(record.value, outcome.error);
    if (isOver && !isRepeated(record.value, records)) await notifyAll(context, record.value);
    log.tell([outcome.state, ...(outcome.error === undefined ? [] : [formatError(outcome.error)])].join(': '));
    await log.close();
    await this.#history.shareLog(begun);
    return { record: record.value, error: outcome.error };
  }

  /** True if an unfinished run is the requested one. */
  #isSame(record: JobRecord, due: number): boolean {
    const { job, due: asked } = this.#options;
    const had = Date.parse(record.due);
    const isSameTime = asked === undefined ? dateAt(had, job.zone) === dateAt(due, job.zone) : had === asked;
    return isSameTime && record.digest === job.digest;
  }

  /**
   * Ends unfinished runs that are not resumed: publishing is completed, the others are abandoned. Scheduled ones wait for their turn.
   */
  async #settle(records: readonly JobRecord[], resumed: JobRecord | undefined, due: number): Promise<void> {
    for (const record of unfinished(records)) {
      const isWaiting = record.trigger !== 'manual' && Date.parse(record.due) !== due;
      if (record === resumed || (isWaiting && record.state !== 'publishing')) continue;
      await this.#history.write({ ...record, ...(await settle(record)) }, this.#options.effects);
    }
  }

  #fresh(due: number, records: readonly JobRecord[]): JobRecord {
    const { job, trigger = 'manual' } = this.#options;
    return {
      ...{ format: 1, id: freshRecordId(due, records), job: job.name, file: job.file, digest: job.digest },
      ...{
        network: job.network,
        warehouse: warehousePath(job.warehouse),
        pipelines: [...job.pipelines],
        zone: job.zone,
      },
      ...{ trigger, due: new Date(due).toISOString(), state: 'running', attempts: [], steps: [], outputs: [] },
    };
  }

  #contextOf(record: RunRecordFile, log: RunLog): StepContext {
    const { job, actions, effects, onEvent, onRunEvent } = this.#options;
    const onStep = async (step: StepResult): Promise<void> => {
      await record.addStep(step);
      log.step(step);
      await this.#history.shareLog(record.value);
      onEvent?.({ event: 'step', ...step });
    };
    const seen = (event: RunEvent): void => {
      log.see(event);
      onRunEvent?.(event);
    };
    return { job, actions, effects, stop: this.#stop, onStep, onRunEvent: seen };
  }

  async #work(
    context: StepContext,
    record: RunRecordFile,
    records: readonly JobRecord[],
  ): Promise<'done' | 'interrupted'> {
    const { due, id, state, publishedAt } = record.value;
    const resumed = state === 'publishing';
    if (!resumed) {
      await requireReady(context);
      const fixed = fixedBy(record.value) ?? (await fixRun(context, Date.parse(due), records));
      await record.save({ now: new Date(fixed.now).toISOString(), range: fixed.range });
      const outputs = hasNothingNew(record.value)
        ? await skipAll(context)
        : await this.#prepare(context, fixed, id, records);
      if (outputs === undefined) return 'interrupted';
      await record.save({ state: 'publishing', outputs: [...outputs] });
    }
    if (publishedAt === undefined) {
      await publish(context, record.value.outputs, resumed);
      await record.save({ publishedAt: new Date(context.effects.now()).toISOString() });
    }
    const fixed = fixedBy(record.value);
    // Last, because a later attempt that stages the outputs again needs the same rows.
    if (fixed !== undefined && !hasNothingNew(record.value)) await forgetOldRows(context, fixed);
    await publishIceberg(context);
    return 'done';
  }

  /** All steps up to the staged outputs. @returns undefined if the run was stopped */
  async #prepare(
    context: StepContext,
    fixed: Fixed,
    id: string,
    records: readonly JobRecord[],
  ): Promise<readonly StagedOutput[] | undefined> {
    const { job, warehouse } = { job: context.job, warehouse: warehousePath(context.job.warehouse) };
    const publication = new Publication(job.name, warehouse, id);
    try {
      const steps = [
        () => exportRange(context, fixed),
        () => verifyRows(context, records),
        () => compactFiles(context),
        () => buildMarts(context),
        () => runChecks(context),
        () => stageOutputs(context, fixed, publication),
        () => writeDatabases(context, fixed),
      ];
      for (const step of steps) {
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

/** Replaces all steps if there are no new blocks: the outputs of the last run stay as they are. */
async function skipAll(context: StepContext): Promise<readonly StagedOutput[]> {
  await skipExport(context, 'no new blocks; outputs are unchanged');
  return [];
}

/** True if an error may pass by itself: a schedule tries again. */
export function mayPass(error: unknown): boolean {
  return error instanceof TonlakeError && (error.retryable || error.code === 'busy');
}

/** True if the schedule tries a failed run again: nobody has to do anything, unless it is late. */
function isTriedAgain({ state, trigger }: JobRecord, error: unknown): boolean {
  return state === 'failed' && trigger !== 'manual' && mayPass(error);
}

/** True if a scheduled run fails as it did before: a retry that changes nothing sends no notice. */
function isRepeated({ state, trigger, due, error }: JobRecord, records: readonly JobRecord[]): boolean {
  if (state !== 'failed' || trigger === 'manual') return false;
  const before = records.findLast((record) => record.due === due && record.state === 'failed');
  return before !== undefined && before.error?.code === error?.code;
}

/** The moment and range of an earlier attempt. */
function fixedBy({ now, range }: JobRecord): Fixed | undefined {
  return now === undefined || range === undefined ? undefined : { now: Date.parse(now), range };
}
