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

/** Code of the failure of a poll for a block. */
export const NOT_INDEXED = 'not-indexed';

/** A block that comes late is told after so many polls, about five seconds. */
export const POLLS_BEFORE_TELLING = 6;

export function isWorthTelling({ sleepMs, code, attempt }: RetryEvent): boolean {
  return sleepMs >= TELL_WAIT_MS || (code === NOT_INDEXED && attempt >= POLLS_BEFORE_TELLING);
}

export function describeRetry({ sleepMs, code, message }: RetryEvent): string {
  return code === NOT_INDEXED ? `waiting: ${message}` : `waiting ${formatDuration(sleepMs / 1000)}: ${message}`;
}
