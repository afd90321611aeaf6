import type { Effects } from '../core/effects.ts';
import type { ProcessMark } from '../files/process-liveness.ts';
import { putInPlace } from './publish.ts';
import type { JobHistory } from './run-history.ts';
import { faultOf, type JobRecord, type StepResult } from './run-record.ts';

/** The record of a running job: every change is written to disk before the run continues. */
export class RunRecordFile {
  readonly #history: JobHistory;
  readonly #effects: Effects;
  #value: JobRecord;

  private constructor(history: JobHistory, effects: Effects, value: JobRecord) {
    this.#history = history;
    this.#effects = effects;
    this.#value = value;
  }

  /** Starts or resumes a run. */
  static async begin(
    record: JobRecord,
    owner: ProcessMark,
    keeping: { readonly history: JobHistory; readonly effects: Effects },
  ): Promise<RunRecordFile> {
    const kept = new RunRecordFile(keeping.history, keeping.effects, record);
    const attempts = [...record.attempts, { startedAt: kept.#now(), owner }];
    // A run that was publishing has finished its steps.
    await kept.save(record.state === 'publishing' ? { attempts } : { attempts, state: 'running', steps: [] });
    return kept;
  }

  get value(): JobRecord {
    return this.#value;
  }

  async save(change: Partial<JobRecord>): Promise<void> {
    this.#value = { ...this.#value, ...change };
    await this.#history.write(this.#value, this.#effects);
  }

  async addStep(step: StepResult): Promise<void> {
    await this.save({ steps: [...this.#value.steps, step] });
  }

  async end(state: 'done' | 'failed' | 'interrupted', error?: unknown): Promise<void> {
    const { attempts } = this.#value;
    const ended = attempts.map((attempt, at) =>
      at < attempts.length - 1 ? attempt : { ...attempt, endedAt: this.#now() },
    );
    await this.save({ state, attempts: ended, ...(error === undefined ? {} : { error: faultOf(error) }) });
  }

  #now(): string {
    return new Date(this.#effects.now()).toISOString();
  }
}

/** Ends an unfinished run that is not resumed: publishing is completed, otherwise the run is abandoned. */
export async function settle(record: JobRecord): Promise<Partial<JobRecord>> {
  if (record.state !== 'publishing') return { state: 'abandoned' };
  try {
    if (record.publishedAt === undefined) await putInPlace(record.outputs, true);
    return { state: 'done' };
  } catch (error) {
    return { state: 'failed', error: faultOf(error) };
  }
}
