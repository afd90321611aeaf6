import { formatAge } from '../core/format.ts';

/** Standard error, or a substitute in tests. */
export interface LineOutput {
  readonly isTTY: boolean;
  /** Width of the terminal. */
  readonly columns?: number;
  write(text: string): unknown;
}

export interface StatusLineOptions {
  readonly output?: LineOutput;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
  /** Calls `tick` once a second until the returned function is called. */
  readonly every?: (tick: () => void) => () => void;
}

/** The text of the line now, at most `width` characters; undefined for none. */
type Render = (now: number, width: number) => string | undefined;

const TICK_MS = 1000;
/** Shorter work is not shown. */
const QUIET_MS = 2000;

/** The progress line at the bottom of a terminal; messages are printed above it. Without a terminal there are only messages. */
export class StatusLine {
  readonly isShown: boolean;
  readonly now: () => number;
  readonly #output: LineOutput;
  readonly #every: (tick: () => void) => () => void;
  #render: Render | undefined;
  #stop: (() => void) | undefined;
  #isDrawn = false;

  constructor({ output = process.stderr, now = () => performance.now(), every = everySecond }: StatusLineOptions = {}) {
    this.isShown = output.isTTY;
    this.#output = output;
    this.now = now;
    this.#every = every;
  }

  /** Shows a line, and redraws it each second, so that times are current without events. */
  set(render: Render): void {
    if (!this.isShown) return;
    this.#render = render;
    if (this.#stop === undefined) {
      this.#stop = this.#every(this.draw);
      process.once('exit', this.end);
    }
    this.draw();
  }

  readonly draw = (): void => {
    // A line that wraps could not be replaced.
    const width = (this.#output.columns ?? Number.POSITIVE_INFINITY) - 1;
    const text = this.#render?.(this.now(), width);
    if (text === undefined) return this.clear();
    this.#output.write(`\r\u001b[K${text.slice(0, width)}`);
    this.#isDrawn = true;
  };

  /** Prints a message above the line. */
  readonly print = (message: string): void => {
    this.clear();
    this.#output.write(`${message}\n`);
    if (this.#render !== undefined) this.draw();
  };

  /** Erases the line until the next draw. To be called before anything else is printed. */
  readonly clear = (): void => {
    if (this.#isDrawn) this.#output.write('\r\u001b[K');
    this.#isDrawn = false;
  };

  readonly end = (): void => {
    this.clear();
    this.#render = undefined;
    this.#stop?.();
    this.#stop = undefined;
    process.off('exit', this.end);
  };

  /** Shows a label with the elapsed time, such as `verifying  12 s`, if the work takes longer than two seconds. */
  async during<T>(label: string, work: () => Promise<T>): Promise<T> {
    const startedAt = this.now();
    this.set((now) => (now - startedAt < QUIET_MS ? undefined : `${label}  ${formatAge((now - startedAt) / 1000)}`));
    return work().finally(this.end);
  }
}

function everySecond(tick: () => void): () => void {
  const timer = setInterval(tick, TICK_MS);
  return () => clearInterval(timer);
}
