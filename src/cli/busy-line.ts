import { formatAge } from '../core/format.ts';

/** Work that is done sooner is not shown. */
const QUIET_SECONDS = 2;
const TICK_MS = 1000;

/** Where the line is shown: standard error, or what stands for it. */
export interface BusyOutput {
  readonly isTTY: boolean;
  write(text: string): unknown;
}

export interface BusyOptions {
  readonly output?: BusyOutput;
  /** Calls `tick` once a second until the returned function is called. */
  readonly every?: (tick: () => void) => () => void;
}

/**
 * Shows on a terminal that a command still works: what it does and for how long, in a line that goes away at the end.
 *
 * @param label for example `verifying`
 * @param work gets a function to be called before it prints anything
 */
export async function whileBusy<T>(
  label: string,
  work: (clear: () => void) => Promise<T>,
  { output = process.stderr, every = everySecond }: BusyOptions = {},
): Promise<T> {
  if (!output.isTTY) return work(() => {});
  let seconds = 0;
  let isShown = false;
  const clear = (): void => {
    if (isShown) output.write('\r\u001b[K');
    isShown = false;
  };
  const stop = every(() => {
    seconds++;
    if (seconds < QUIET_SECONDS) return;
    isShown = true;
    output.write(`\r\u001b[K${label}  ${formatAge(seconds)}`);
  });
  try {
    return await work(clear);
  } finally {
    stop();
    clear();
  }
}

function everySecond(tick: () => void): () => void {
  const timer = setInterval(tick, TICK_MS);
  return () => clearInterval(timer);
}
