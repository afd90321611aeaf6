import type { Effects } from '../core/effects.ts';
import type { RateMemory } from './adaptive-rate.ts';
import { PermitDispatcher } from './permit-dispatcher.ts';
import { Pool } from './permit-pool.ts';
import type { Priority } from './priority.ts';
import { Waiters } from './waiters.ts';

/** Permit to start one request. */
export interface Permit {
  /** On the clock of whoever gave it, milliseconds. */
  readonly startedAt: number;
  /** Who gave it; absent within one process. */
  readonly term?: number | undefined;
}

/** Who may start a request, and when. All sources of one network share one. */
export interface Budget {
  /** Waits for its turn; rejects with the signal's reason as soon as that is aborted. */
  take(signal: AbortSignal): Promise<Permit>;
  /** The source said that the request came too fast; `holdMs` is the pause it asked for. */
  slow(leave: Permit, holdMs: number | undefined): void;
  /** Requests per second at the moment; Infinity without a limit. */
  readonly rps: number;
  /** Gives the turn back to others. Nothing may be taken afterwards. */
  close(): Promise<void>;
}

/** A told rate, `auto` to find it, or undefined for no limit. */
export type Rps = number | 'auto' | undefined;

/** A budget of this process alone: first come, first served. */
export function openBudget(rps: Rps, effects: Effects, memory?: RateMemory, lane: Priority = 'backfill'): Budget {
  const waiters = new Waiters();
  const turnstile = new PermitDispatcher({ pool: new Pool(memory), effects });
  const seat = turnstile.join(
    { pid: process.pid, command: 'tonlake', lane, rps },
    {
      go: (ticket, startedAt) => waiters.admit(ticket, { startedAt }),
      fail: (reason) => waiters.failAll(reason),
    },
  );
  return {
    take: (signal) =>
      waiters.take(
        signal,
        (ticket) => turnstile.ask(seat, ticket),
        (ticket) => turnstile.drop(seat, ticket),
      ),
    slow: (leave, holdMs) => turnstile.slow(leave.startedAt, holdMs),
    get rps() {
      return turnstile.pool.rateAt(effects.monotonic());
    },
    close: async () => turnstile.close(),
  };
}
