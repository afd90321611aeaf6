import { formatDuration } from '../core/format.ts';
import type { RunEvent } from '../export/run.ts';
import type { RetryEvent } from '../http/source.ts';

/** Shows a run on standard error. */
export interface Progress {
  readonly show: (event: RunEvent) => void;
  readonly retry: (event: RetryEvent) => void;
  /** Prints another line. */
  readonly tell: (line: string) => void;
  readonly end: () => void;
}

/** Waits shorter than this are not shown, and retries not more often than this. */
export const TELL_WAIT_MS = 5_000;

export function describeRetry(event: RetryEvent): string {
  return `waiting ${formatDuration(event.sleepMs / 1000)}: ${event.message}`;
}
