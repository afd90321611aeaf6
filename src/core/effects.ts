import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

/** Time and randomness, injected so that tests need not wait. */
export interface Effects {
  /** Wall clock, milliseconds since 1970, UTC. */
  readonly now: () => number;
  /** Monotonic clock, in milliseconds. */
  readonly monotonic: () => number;
  /**
   * Resolves after `ms` milliseconds; rejects with the signal's reason if aborted. With `ref: false` the timer does not keep the process
   * alive.
   */
  readonly sleep: (ms: number, signal?: AbortSignal, timer?: { readonly ref: boolean }) => Promise<void>;
  /** A number from 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
  /** A unique identifier: 12 lower-case hex digits. */
  readonly freshId: () => string;
}

/**
 * Starts to measure an age. The monotonic clock stops while the machine sleeps, and the wall clock may be set, so the longer time counts.
 * @returns the age, in milliseconds
 */
export function startAge(effects: Pick<Effects, 'now' | 'monotonic'>): () => number {
  const [now, monotonic] = [effects.now(), effects.monotonic()];
  return () => Math.max(effects.now() - now, effects.monotonic() - monotonic);
}

/** The system clock and real randomness. */
export const realEffects: Effects = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: async (ms, signal, timer) => {
    await delay(ms, undefined, { ...timer, ...(signal && { signal }) });
  },
  random: () => Math.random(),
  freshId: () => randomUUID().replaceAll('-', '').slice(0, 12),
};
