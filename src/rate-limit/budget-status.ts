import type { Priority } from './priority.ts';

/** A process (or one of its connections) that uses the rate limit. */
export interface BudgetHolder {
  readonly pid: number;
  /** Its machine, if the limit is shared between machines. */
  readonly host?: string | undefined;
  readonly command: string;
  readonly priority: Priority;
  /** Its own maximum rate, or `auto`. */
  readonly rps: number | 'auto';
  /** Requests per second over the last 10 seconds. */
  readonly share: number;
  readonly usedLastMinute: number;
  /** Requests waiting for a permit. */
  readonly waiting: number;
}

/** State of the shared rate limit of one network and key on this machine, or on all that share it through Redis. */
export interface BudgetStatus {
  readonly network: string;
  /** Current requests per second; null if unused. */
  readonly limit: number | null;
  /** Highest rate of any holder; null with `auto`, or if unused. */
  readonly cap: number | null;
  /** Limit found by `auto`; null for none. */
  readonly found: number | null;
  /** Requests in the last 60 seconds. */
  readonly usedLastMinute: number;
  /** Time of the last 429; null for none. */
  readonly last429: string | null;
  /** Remaining pause after a 429, in milliseconds. */
  readonly heldMs: number;
  readonly holders: readonly BudgetHolder[];
}
