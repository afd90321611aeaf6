import type { Effects } from '../core/effects.ts';
import type { Permit } from './permit.ts';
import { PermitDispatcher } from './permit-dispatcher.ts';
import { Pool } from './permit-pool.ts';
import { Waiters } from './waiters.ts';

/** Decides when requests may start. All sources of a network share one. */
export interface RateLimiter {
  /** Waits for a permit; rejects with the signal's reason when aborted. */
  take(signal: AbortSignal): Promise<Permit>;
  /** The source answered 429; `holdMs` is the pause that it asked for. */
  slow(permit: Permit, holdMs: number | undefined): void;
  /** Current requests per second; Infinity without a limit. */
  readonly rps: number;
  /** No permit may be taken afterwards. */
  close(): Promise<void>;
}

/** A given rate, `auto` to find it, or undefined for no limit. */
export type Rps = number | 'auto' | undefined;

/** A limiter for this process only: first come, first served. */
export function openLimiter(rps: Rps, effects: Effects): RateLimiter {
  const waiters = new Waiters();
  const dispatcher = new PermitDispatcher(new Pool(), effects);
  const seat = dispatcher.join(
    { pid: process.pid, command: 'tonlake', priority: 'backfill', rps },
    {
      go: (ticket, startedAt) => waiters.admit(ticket, { startedAt }),
      fail: (reason) => waiters.failAll(reason),
    },
  );
  return {
    take: (signal) =>
      waiters.take(
        signal,
        (ticket) => dispatcher.ask(seat, ticket),
        (ticket) => dispatcher.drop(seat, ticket),
      ),
    slow: (permit, holdMs) => dispatcher.slow(permit.startedAt, holdMs),
    get rps() {
      return dispatcher.pool.rateAt(effects.monotonic());
    },
    close: async () => dispatcher.close(),
  };
}
