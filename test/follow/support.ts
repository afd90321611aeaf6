import { setImmediate } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { type Effects, realEffects } from '../../src/core/effects.ts';
import type { FollowEvent, LagEvent } from '../../src/follow/follow-event.ts';
import { type FollowHeadOptions, followHead } from '../../src/follow/follow-head.ts';
import { startTestSandbox, type TestSandbox, type TestSandboxOptions } from '../faults/test-sandbox.ts';

/** Head of the network when a test begins. */
export const HEAD = 1000;
const BLOCK_MS = 400;

export interface TestClock extends Effects {
  /** Milliseconds that have passed. */
  readonly elapsed: () => number;
  /** Moves the wall clock, not time itself. */
  moveWall(ms: number): void;
  /** Lets time pass that the monotonic clock does not see. */
  sleepMachine(ms: number): void;
}

/** A clock that moves when somebody waits, as soon as what takes no time is done. Pauses in the background, before a catalog, move nothing. */
export function testClock(start = Date.UTC(2026, 4, 1)): TestClock {
  let elapsed = 0;
  let wall = start;
  let slept = 0;
  return {
    ...realEffects,
    elapsed: () => elapsed + slept,
    now: () => wall + elapsed,
    monotonic: () => elapsed,
    sleep: async (ms, signal, timer) => {
      signal?.throwIfAborted();
      if (timer?.ref === false) {
        await new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
        });
      }
      await setImmediate();
      elapsed += ms;
    },
    moveWall: (ms) => {
      wall += ms;
    },
    sleepMachine: (ms) => {
      slept += ms;
      wall += ms;
    },
  };
}

/** A network whose head grows while somebody waits, by `most` blocks in all. @param back how far it is set back */
export async function startGrowing(
  most: number,
  options: TestSandboxOptions = {},
  back = { ms: 0 },
): Promise<{ readonly effects: TestClock; readonly sandbox: TestSandbox }> {
  const effects = testClock();
  const nowMs = (): number => Math.min(effects.elapsed() - back.ms, most * BLOCK_MS);
  const sandbox = await startTestSandbox({ blocks: HEAD, blockMs: BLOCK_MS, ...options, nowMs });
  onTestFinished(() => sandbox.close());
  return { effects, sandbox };
}

/** Follows until an event says to stop. */
export async function followUntil(
  isEnough: (event: FollowEvent) => boolean,
  options: Omit<FollowHeadOptions, 'onEvent' | 'stop'>,
) {
  const stop = new AbortController();
  const events: FollowEvent[] = [];
  const report = await followHead({
    ...{ commitEveryMs: 0 },
    ...options,
    stop: stop.signal,
    onEvent: (event) => {
      events.push(event);
      if (isEnough(event)) stop.abort();
    },
  });
  return { report, events, lags: events.filter((event): event is LagEvent => event.event === 'lag') };
}

/** True for the event of a round that brought in a block. */
export const reaches = (block: number) => (event: FollowEvent) => event.event === 'lag' && event.block >= block;
