import type { Effects } from '../core/effects.ts';
import { freshLimit, type Limit } from './limit.ts';

export type Change<T> = (limit: Limit, now: number) => readonly [Limit, T];

/** Where a limit is kept. All that is known of it is in the document; a place only compares and swaps. */
export interface Place {
  /** True if other processes see it. */
  readonly isShared: boolean;
  /** Time on the clock of the limit, in milliseconds. */
  now(): number;
  /** The limit as it is now. */
  read(): Promise<Limit>;
  /** Replaces the limit. `change` runs again if another process was faster; its last result counts. */
  change<T>(change: Change<T>): Promise<T>;
  close(): void;
}

/** A limit of this process only. */
export function memoryPlace(effects: Effects): Place {
  let limit = freshLimit('');
  return {
    isShared: false,
    now: effects.monotonic,
    read: async () => limit,
    change: async (change) => {
      const [next, result] = change(limit, effects.monotonic());
      limit = next;
      return result;
    },
    close: () => undefined,
  };
}
