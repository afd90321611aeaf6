import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

/** Everything that makes two runs differ: time and chance. Handed in, so that tests need not wait. */
export interface Effects {
  /** Wall clock, milliseconds since 1970, UTC. */
  readonly now: () => number;
  /** Clock that never goes back, in milliseconds from an arbitrary start. */
  readonly monotonic: () => number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason when it is aborted before. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** A number from 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
  /** An identifier that was never given before: 12 lower-case hex digits. */
  readonly freshId: () => string;
}

/** The real clock and real chance. */
export const realEffects: Effects = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: async (ms, signal) => {
    await delay(ms, undefined, signal === undefined ? {} : { signal });
  },
  random: () => Math.random(),
  freshId: () => randomUUID().replaceAll('-', '').slice(0, 12),
};
