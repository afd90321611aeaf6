import type { Effects } from '../core/effects.ts';
import { TonlakeError } from '../core/errors.ts';
import { formatDuration } from '../core/format.ts';
import { type Pause, RetryableFailure } from './retryable-failure.ts';

const BACKOFF_MS = { base: 500, cap: 30_000 };
const BRIEF = { attempts: 3, baseMs: 200 };
const POLL_MS = { base: 400, growth: 1.5, cap: 2_000 };

/** Maximum pause that a source may request; the request fails if it is longer. */
export const MAX_PAUSE_MS = 300_000;

/** A failed attempt that will be retried. */
export interface Retry {
  /** Failed attempts so far, from 1. */
  readonly attempt: number;
  /** Pause before the next attempt. */
  readonly sleepMs: number;
  readonly error: TonlakeError;
}

export interface RetryOptions {
  /** Maximum attempts; polls for a block that is not indexed do not count. */
  readonly attempts: number;
  /** How long to wait for a block that is not indexed. */
  readonly waitMs: number;
  readonly effects: Effects;
  readonly signal: AbortSignal;
  /** When aborted, there are no more attempts: the last error is thrown. */
  readonly ending?: AbortSignal | undefined;
  /** How to continue after an error; undefined if a retry is useless. Default: as the error says. */
  readonly pauseAfter?: ((error: TonlakeError) => Pause | undefined) | undefined;
  readonly onRetry?: ((retry: Retry) => void) | undefined;
}

/** The state of the retry loop. */
export interface Tally {
  /** Failed attempts, without polls. */
  readonly failures: number;
  /** Attempts that found the block not indexed. */
  readonly polls: number;
  /** Time since the first poll. */
  readonly missingForMs: number;
}

/** Pause before the next attempt, in milliseconds; undefined to give up. */
export function planPause(
  pause: Pause,
  tally: Tally,
  options: Pick<RetryOptions, 'attempts' | 'waitMs'>,
  random: () => number,
): number | undefined {
  if (pause.kind === 'poll') {
    const left = options.waitMs - tally.missingForMs;
    return left <= 0 ? undefined : Math.min(left, POLL_MS.cap, POLL_MS.base * POLL_MS.growth ** (tally.polls - 1));
  }
  if (tally.failures >= options.attempts) return undefined;
  switch (pause.kind) {
    case 'after':
      return pause.ms > MAX_PAUSE_MS ? undefined : pause.ms;
    case 'brief':
      return tally.failures >= BRIEF.attempts ? undefined : BRIEF.baseMs * 2 ** (tally.failures - 1);
    case 'backoff':
      return random() * Math.min(BACKOFF_MS.cap, BACKOFF_MS.base * 2 ** (tally.failures - 1));
  }
}

/**
 * Runs `attempt` until it succeeds, fails with an error that is not retryable, or has failed too often. The only retry loop of the
 * program.
 */
export async function retry<T>(attempt: (tried: number) => Promise<T>, options: RetryOptions): Promise<T> {
  const { effects, signal, ending = signal, pauseAfter = pauseOf } = options;
  const startedAt = effects.monotonic();
  let failures = 0;
  let polls = 0;
  let missingSince: number | undefined;
  for (let tried = 1; ; tried++) {
    signal.throwIfAborted();
    try {
      return await attempt(tried);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof TonlakeError) || ending.aborted) throw error;
      const pause = pauseAfter(error);
      if (pause === undefined) throw error;
      const now = effects.monotonic();
      if (pause.kind === 'poll') {
        polls++;
        missingSince ??= now;
      } else {
        failures++;
      }
      const tally = { failures, polls, missingForMs: now - (missingSince ?? now) };
      const sleepMs = planPause(pause, tally, options, effects.random);
      if (sleepMs === undefined)
        throw giveUp(error, pause, tried, pause.kind === 'poll' ? tally.missingForMs : now - startedAt);
      options.onRetry?.({ attempt: tried, sleepMs, error });
      await effects.sleep(sleepMs, ending).catch((reason: unknown) => {
        signal.throwIfAborted();
        throw ending.aborted ? error : reason;
      });
    }
  }
}

function pauseOf(error: TonlakeError): Pause | undefined {
  if (!error.retryable) return undefined;
  return (error instanceof RetryableFailure ? error.fault.pause : undefined) ?? { kind: 'backoff' };
}

function giveUp(error: TonlakeError, pause: Pause, tried: number, elapsedMs: number): TonlakeError {
  if (!(error instanceof RetryableFailure)) return error;
  const { label, fault, cause } = error;
  const elapsed = formatDuration(elapsedMs / 1000);
  if (pause.kind === 'poll') return new RetryableFailure(label, fault, { tries: ` after ${elapsed}`, cause });
  if (pause.kind === 'after' && pause.ms > MAX_PAUSE_MS) {
    const tries = `, and asked to wait ${formatDuration(pause.ms / 1000)}`;
    return new RetryableFailure(label, { ...fault, hint: 'try again after that time' }, { tries, cause });
  }
  const tries = tried === 1 ? '' : ` after ${tried} attempts in ${elapsed}`;
  return new RetryableFailure(label, fault, { tries, cause });
}
