import { describeEvent, isTrouble } from '../export/describe-event.ts';
import type { RunEvent } from '../export/run.ts';
import type { RetryEvent } from '../http/source.ts';
import { pasteable } from './invocation.ts';
import {
  describeRetry,
  isWorthTelling,
  NOT_INDEXED,
  POLLS_BEFORE_TELLING,
  type Progress,
  TELL_WAIT_MS,
} from './progress-text.ts';

/** Progress bars on a terminal, plain lines elsewhere; only problems if standard output is JSON. */
export async function openProgress(isJson: boolean): Promise<Progress> {
  if (isJson || !process.stderr.isTTY) return new LineProgress(isJson);
  const { LiveProgress } = await import('./live-progress.ts');
  return new LiveProgress();
}

class LineProgress implements Progress {
  private readonly isQuiet: boolean;
  private toldAt = Number.NEGATIVE_INFINITY;

  constructor(isQuiet: boolean) {
    this.isQuiet = isQuiet;
  }

  readonly show = (event: RunEvent): void => {
    const line = describeEvent(event);
    if (line !== undefined && (!this.isQuiet || isTrouble(event))) process.stderr.write(`${pasteable(line)}\n`);
  };

  readonly retry = (event: RetryEvent): void => {
    const now = performance.now();
    if (!isWorthTelling(event) || now - this.toldAt < TELL_WAIT_MS) return;
    if (event.code === NOT_INDEXED && event.attempt > POLLS_BEFORE_TELLING) return;
    this.toldAt = now;
    process.stderr.write(`${describeRetry(event)}\n`);
  };

  readonly tell = (line: string): void => {
    process.stderr.write(`${pasteable(line)}\n`);
  };

  readonly end = (): void => {};
}
