import type { Effects } from '../core/effects.ts';
import type { RateMemory } from './adaptive-rate.ts';
import type { Permit } from './permit.ts';
import { PermitDispatcher } from './permit-dispatcher.ts';
import { Pool } from './permit-pool.ts';
import type { Priority } from './priority.ts';
import { Waiters } from './waiters.ts';

/** Who may start a request, and when. All sources of one network share one. */
export interface RateLimiter {
  /** Waits for its turn; rejects with the signal's reason as soon as that is aborted. */
  take(signal: AbortSignal): Promise<Permit>;
  /** The source said that the request came too fast; `holdMs` is the pause it asked for. */
  slow(permit: Permit, holdMs: number | undefined): void;
  /** Requests per second at the moment; Infinity without a limit. */
  readonly rps: number;
  /** Gives the turn back to others. Nothing may be taken afterwards. */
  close(): Promise<void>;
}

/** A told rate, `auto` to find it, or undefined for no limit. */
export type Rps = number | 'auto' | undefined;

/** A budget of this process alone: first come, first served. */
export function openLimiter(
  rps: Rps,
  effects: Effects,
  memory?: RateMemory,
  priority: Priority = 'backfill',
): RateLimiter {
  const waiters = new Waiters();
  const dispatcher = new PermitDispatcher({ pool: new Pool(memory), effects });
  const seat = dispatcher.join(
    { pid: process.pid, command: 'tonlake', priority, rps },
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
