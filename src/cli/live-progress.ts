import cliProgress from 'cli-progress';
import { describeEvent, isTrouble } from '../export/describe-event.ts';
import type { RunEvent } from '../export/run.ts';
import type { RetryEvent } from '../http/source.ts';
import { pasteable } from './invocation.ts';
import { describeRetry, isWorthTelling, type Progress } from './progress-text.ts';
import { RunProgress } from './run-progress.ts';

/** Progress bars at the bottom of a terminal; messages are printed above them. */
export class LiveProgress implements Progress {
  readonly #progress = new RunProgress();
  #bars: cliProgress.MultiBar | undefined;

  readonly show = (event: RunEvent): void => {
    this.#progress.see(event, performance.now());
    const line = event.event === 'start' || isTrouble(event) ? describeEvent(event) : undefined;
    if (line !== undefined) this.tell(line);
  };

  readonly retry = (event: RetryEvent): void => {
    if (isWorthTelling(event)) this.#progress.pause(describeRetry(event));
  };

  readonly tell = (line: string): void => {
    this.end();
    process.stderr.write(`${pasteable(line)}\n`);
    this.#draw();
  };

  readonly end = (): void => {
    this.#bars?.stop();
    this.#bars = undefined;
    process.off('exit', this.end);
  };

  /** Draws the bars; they redraw themselves, so that times are updated even without events. */
  #draw(): void {
    const count = this.#progress.lines(performance.now()).length;
    if (count === 0) return;
    const bars = new cliProgress.MultiBar({
      stream: process.stderr,
      hideCursor: true,
      clearOnComplete: true,
      gracefulExit: false,
      linewrap: false,
      format: (_options, { maxWidth }, { row }: { readonly row: number }) =>
        (this.#progress.lines(performance.now(), maxWidth - 1)[row] ?? '').slice(0, maxWidth - 1),
    });
    for (let row = 0; row < count; row++) bars.create(1, 0, { row });
    this.#bars = bars;
    // Restores the cursor, however the process ends.
    process.once('exit', this.end);
  }
}
