import type { Effects } from '../effects.ts';
import { Pace } from './pace.ts';

/** Leave to start one request. */
export interface Leave {
  /** On the monotonic clock, milliseconds. */
  readonly startedAt: number;
}

/** Who may start a request, and when. All sources of one network share one. */
export interface Budget {
  /** Waits for its turn; rejects with the signal's reason as soon as that is aborted. */
  take(signal: AbortSignal): Promise<Leave>;
  /** The source said that the request came too fast; `holdMs` is the pause it asked for. */
  slow(leave: Leave, holdMs: number | undefined): void;
  /** Requests per second at the moment; Infinity without a limit. */
  readonly rps: number;
}

interface Waiter {
  readonly admit: (leave: Leave) => void;
  readonly fail: (reason: unknown) => void;
}

/** A budget for this process: first come, first served. */
export function openBudget(rps: number | undefined, effects: Effects): Budget {
  const pace = new Pace(rps);
  const waiters = new Set<Waiter>();
  let rest: AbortController | undefined;

  /** Serves the waiters one by one; one sleep at a time, so that a 429 also holds back whoever waits already. */
  async function serve(nap: AbortController): Promise<void> {
    while (waiters.size > 0) {
      const now = effects.monotonic();
      const at = pace.nextStart(now);
      if (at > now) {
        await effects.sleep(at - now, nap.signal);
        continue;
      }
      const [waiter] = waiters;
      if (waiter === undefined) break;
      waiters.delete(waiter);
      pace.recordStart(now);
      waiter.admit({ startedAt: now });
    }
  }

  function wake(): void {
    if (rest !== undefined) return;
    const nap = new AbortController();
    rest = nap;
    serve(nap)
      .catch((reason: unknown) => {
        if (nap.signal.aborted) return;
        for (const waiter of waiters) waiter.fail(reason);
        waiters.clear();
      })
      .finally(() => {
        if (rest === nap) rest = undefined;
        if (waiters.size > 0) wake();
      });
  }

  return {
    take: (signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) {
          reject(signal.reason);
          return;
        }
        const leaveQueue = (): void => {
          waiters.delete(waiter);
          if (waiters.size === 0) {
            rest?.abort();
            rest = undefined;
          }
          reject(signal.reason);
        };
        const waiter: Waiter = {
          admit: (leave) => {
            signal.removeEventListener('abort', leaveQueue);
            resolve(leave);
          },
          fail: (reason) => {
            signal.removeEventListener('abort', leaveQueue);
            reject(reason);
          },
        };
        signal.addEventListener('abort', leaveQueue, { once: true });
        waiters.add(waiter);
        wake();
      }),
    slow: (leave, holdMs) => pace.slow(leave.startedAt, effects.monotonic(), holdMs),
    get rps() {
      return pace.rateAt(effects.monotonic());
    },
  };
}
