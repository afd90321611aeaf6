import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Effects } from '../core/effects.ts';
import { oneLine } from '../core/errors.ts';
import { describeEvent } from '../export/describe-event.ts';
import type { RunEvent } from '../export/run.ts';
import { ifAny, makeFolder } from '../files/disk.ts';
import type { JobRecord, StepResult } from './run-record.ts';
import { describeStep } from './show-job.ts';

type RunName = Pick<JobRecord, 'id'>;

/** Path of the log of a run, beside its record. */
export function logPath(folder: string, { id }: RunName): string {
  return join(folder, `${id}.log`);
}

/** The lines of a run's log, oldest first; empty if none could be written. */
export async function readLog(folder: string, run: RunName): Promise<readonly string[]> {
  const text = (await ifAny(readFile(logPath(folder, run), 'utf8'))) ?? '';
  return text.split('\n').slice(0, -1);
}

/**
 * The log of a run, a line with its time for each attempt, commit, problem and step. A line that cannot be written, for example on a full disk,
 * is dropped: the record has the steps as well.
 */
export class RunLog {
  readonly #folder: string;
  readonly #path: string;
  readonly #effects: Effects;
  #written: Promise<void>;

  constructor(folder: string, run: RunName, effects: Effects) {
    this.#folder = folder;
    this.#path = logPath(folder, run);
    this.#effects = effects;
    this.#written = makeFolder(this.#folder).catch(() => undefined);
  }

  write(text: string): void {
    const line = `${new Date(this.#effects.now()).toISOString()} ${oneLine(text)}\n`;
    this.#written = this.#written.then(() => appendFile(this.#path, line).catch(() => undefined));
  }

  readonly onRunEvent = (event: RunEvent): void => {
    const text = describeEvent(event);
    if (text !== undefined) this.write(text);
  };

  step(step: StepResult): void {
    this.write(describeStep(step));
  }

  /** Waits until all lines are written. */
  async close(): Promise<void> {
    await this.#written;
  }
}
