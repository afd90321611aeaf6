import { type Effects, realEffects } from '../../src/core/effects.ts';

export interface FakeClock extends Effects {
  /** Every sleep that was asked for, in milliseconds. */
  readonly slept: number[];
}

/** A clock that moves only when somebody sleeps, and then at once. */
export function fakeClock(random = () => 0.5): FakeClock {
  let elapsed = 0;
  const slept: number[] = [];
  return {
    slept,
    now: () => Date.UTC(2026, 0, 1) + elapsed,
    monotonic: () => elapsed,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      slept.push(ms);
      elapsed += ms;
    },
    random,
    freshId: () => '000000000000',
  };
}

/** The real effects, on a clock that moves only when somebody sleeps. */
export function hurriedEffects(): Effects {
  const { monotonic, sleep } = fakeClock();
  return { ...realEffects, monotonic, sleep };
}

/** A clock on which every sleep lasts until its signal is aborted. */
export function stoppedClock(onSleep: () => void = () => undefined): Effects {
  return {
    ...fakeClock(),
    sleep: (_ms, signal) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new Error('sleep aborted')), { once: true });
        onSleep();
      }),
  };
}

/** A clock that many can sleep on: `advance` lets time pass, in order, until nobody wakes before its end. */
export function sharedClock(lateMs: () => number = () => 0): Effects & { advance(toMs: number): Promise<void> } {
  let elapsed = 0;
  const sleepers = new Set<{ readonly at: number; readonly wake: () => void }>();
  return {
    ...fakeClock(),
    monotonic: () => elapsed,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const sleeper = { at: elapsed + ms + lateMs(), wake: resolve };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', () => {
          sleepers.delete(sleeper);
          reject(signal.reason);
        });
      }),
    async advance(toMs) {
      for (;;) {
        await new Promise((resolve) => setImmediate(resolve));
        const next = [...sleepers].sort((a, b) => a.at - b.at)[0];
        if (next === undefined || next.at > toMs) break;
        sleepers.delete(next);
        elapsed = Math.max(elapsed, next.at);
        next.wake();
      }
      elapsed = toMs;
    },
  };
}
