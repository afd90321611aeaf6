import type { Effects } from '../core/effects.ts';
import { formatError, TonlakeError } from '../core/errors.ts';
import type { ProcessMark } from '../files/process-liveness.ts';
import { putInPlace } from './publish.ts';
import type { JobHistory } from './run-history.ts';
import type { JobRecord, StepResult } from './run-record.ts';

/** The record of a run under way: every change is on disk before anything follows it. */
export class RunRecordFile {
  readonly #history: JobHistory;
  readonly #effects: Effects;
  #value: JobRecord;

  private constructor(history: JobHistory, effects: Effects, value: JobRecord) {
    this.#history = history;
    this.#effects = effects;
    this.#value = value;
  }

  /** Notes that a process begins to work on a run, or to work on it again. */
  static async begin(
    record: JobRecord,
    owner: ProcessMark,
    keeping: { readonly history: JobHistory; readonly effects: Effects },
  ): Promise<RunRecordFile> {
    const kept = new RunRecordFile(keeping.history, keeping.effects, record);
    const attempts = [...record.attempts, { startedAt: kept.#now(), owner }];
    // What was being put in place has its steps behind it.
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

/** What becomes of a run that was cut short and is not taken up: what was being put in place is put, else it is given up. */
export async function settle(record: JobRecord): Promise<Partial<JobRecord>> {
  if (record.state !== 'publishing') return { state: 'abandoned' };
  try {
    await putInPlace(record.outputs);
    return { state: 'done' };
  } catch (error) {
    return { state: 'failed', error: faultOf(error) };
  }
}

function faultOf(error: unknown): NonNullable<JobRecord['error']> {
  return { code: error instanceof TonlakeError ? error.code : 'unexpected', message: formatError(error) };
}
