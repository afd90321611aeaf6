import type { Effects } from '../core/effects.ts';
import type { Environment } from '../core/environment.ts';
import type { Secret } from '../http/secret.ts';
import { freshLimit, type Limit } from './limit.ts';

/** An unused limit is forgotten after this time. */
export const UNUSED_MS = 7 * 86_400_000;

export type Change<T> = (limit: Limit, now: number) => readonly [Limit, T];

/** Stores a limit as one document that is replaced by compare-and-swap. */
export interface LimitStore {
  /** True if other processes see it. */
  readonly isShared: boolean;
  /** Time on the clock of the limit, in milliseconds. */
  now(): number;
  /** The current limit. */
  read(): Promise<Limit>;
  /** Replaces the limit. `change` runs again if another process was faster; returns the result of the last run. */
  change<T>(change: Change<T>): Promise<T>;
  close(): void;
}

export interface LimitStoreOptions {
  readonly baseUrl: string;
  readonly key: Secret | undefined;
  readonly env: Environment;
  readonly effects: Effects;
  /** Called when a Redis server is away. Default: a process warning. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** A limit of this process only. */
export function memoryLimitStore(effects: Effects): LimitStore {
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
