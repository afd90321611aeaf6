import type { Effects } from '../core/effects.ts';
import { StoreError } from '../core/errors.ts';
import { type Retry, retry } from '../http/retry.ts';

export interface ReachableOptions {
  readonly effects: Effects;
  readonly stop: AbortSignal;
  readonly onWait: (wait: Pick<Retry, 'error' | 'sleepMs'>) => void;
}

/** Retries work at the start of a resident process until its stores can be reached. */
export function untilReachable<T>(work: () => Promise<T>, { effects, stop, onWait }: ReachableOptions): Promise<T> {
  return retry(work, {
    attempts: Number.POSITIVE_INFINITY,
    waitMs: 0,
    effects,
    signal: stop,
    onRetry: onWait,
    pauseAfter: (error) => (error instanceof StoreError && error.retryable ? { kind: 'backoff' } : undefined),
  });
}
