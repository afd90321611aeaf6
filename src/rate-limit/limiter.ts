import { hostname } from 'node:os';
import type { Effects } from '../core/effects.ts';
import { SourceError, usage } from '../core/errors.ts';
import type { DefaultRps, Network } from '../http/network.ts';
import type { RedisAddress } from '../redis/redis-address.ts';
import { FIRST_RPS } from './adaptive-rate.ts';
import { type Change, type LimitStore, type LimitStoreOptions, memoryLimitStore } from './limit-store.ts';
import { rateAt, removeHolder, slow, take } from './policy.ts';
import type { Priority } from './priority.ts';
import { RecentRequests } from './recent-requests.ts';

/** Starts that are late by more are dropped: a process that was suspended must not catch up in a burst. */
const LATEST_MS = 250;
/** Interval at which an idle process announces itself. */
const TOUCH_MS = 1000;
/** Timeout for telling other processes that this one ends. */
const CLOSE_TIMEOUT_MS = 250;

/** Permit to start one request. */
export interface Permit {
  /** Milliseconds on the clock of the limit. */
  readonly startedAt: number;
}

/** A given rate, `auto` to find it, or undefined for no limit. */
export type Rps = number | 'auto' | undefined;

export interface SharedStoreOptions extends LimitStoreOptions {
  /** Shares the limit with other machines through this Redis server, instead of with processes of this machine. */
  readonly budgetAddress?: RedisAddress | undefined;
}

export interface SourceLimiterOptions extends SharedStoreOptions {
  readonly network: Network;
  readonly rps: Rps;
  /** Priority among the processes that share the limit; undefined for a limiter that is not shared. */
  readonly priority: Priority | undefined;
  /** What tonlake is doing, for `status --budget`. Default `tonlake`. */
  readonly command?: string | undefined;
}

/** The default limiter of a source. Without a limit nothing is shared or opened. */
export function openSourceLimiter(options: SourceLimiterOptions): RateLimiter {
  const { network, priority, effects, key } = options;
  const rps = resolveRps(options.rps, network.defaultRps, key !== undefined);
  if (rps === undefined || priority === undefined || network.kind === 'sandbox') return openLimiter(rps, effects);
  const command = options.command ?? 'tonlake';
  const openStore = (): Promise<LimitStore> => openSharedStore(options);
  return new RateLimiter({ rps, priority, effects, openStore, command: key?.redact(command) ?? command });
}

/** Opens the store of a limit: on this machine, or in Redis. @throws {SourceError} if it cannot be used */
export async function openSharedStore(options: SharedStoreOptions): Promise<LimitStore> {
  const { budgetAddress: address } = options;
  if (address === undefined) return (await import('./file-limit-store.ts')).openFileLimitStore(options);
  return (await import('./redis-limit-store.ts')).openRedisLimitStore({ ...options, address });
}

/** A limiter for this process only: first come, first served. */
export function openLimiter(rps: Rps, effects: Effects): RateLimiter {
  const openStore = async (): Promise<LimitStore> => memoryLimitStore(effects);
  return new RateLimiter({ rps, priority: 'backfill', effects, openStore, command: 'tonlake' });
}

interface LimiterOptions {
  readonly rps: Rps;
  readonly priority: Priority;
  readonly effects: Effects;
  readonly command: string;
  /** Called before the first request. */
  readonly openStore: () => Promise<LimitStore>;
}

interface Waiter {
  readonly admit: (permit: Permit) => void;
  readonly fail: (reason: unknown) => void;
}

/**
 * Decides when requests may start; all sources of a network share one limit. Takes starts from it, a few at a time, and lets waiting
 * requests go when these are due.
 */
export class RateLimiter {
  readonly #options: LimiterOptions;
  readonly #id: string;
  readonly #waiters = new Set<Waiter>();
  readonly #recent = new RecentRequests();
  readonly #end = new AbortController();
  /** Starts that are not due yet. */
  #starts: readonly number[] = [];
  /** When to request more starts. */
  #nextAt = 0;
  #store: Promise<LimitStore> | undefined;
  /** The last change; changes run in sequence. */
  #lastChange: Promise<unknown> = Promise.resolve();
  #rps: number | undefined;
  #isServing = false;
  #touch: NodeJS.Timeout | undefined;

  constructor(options: LimiterOptions) {
    this.#options = options;
    this.#id = options.effects.freshId();
  }

  /** Current requests per second; Infinity without a limit. */
  get rps(): number {
    const { rps = Number.POSITIVE_INFINITY } = this.#options;
    return this.#rps ?? (rps === 'auto' ? FIRST_RPS : rps);
  }

  /** Waits for a permit; rejects with the signal's reason when aborted. */
  take(signal: AbortSignal): Promise<Permit> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const end = (): void => {
        this.#waiters.delete(waiter);
        signal.removeEventListener('abort', giveUp);
      };
      const waiter: Waiter = {
        admit: (permit) => {
          end();
          resolve(permit);
        },
        fail: (reason) => {
          end();
          reject(reason);
        },
      };
      const giveUp = (): void => waiter.fail(signal.reason);
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiters.add(waiter);
      this.#wake();
    });
  }

  /** The source answered 429; `holdMs` is the pause that it asked for. */
  slow({ startedAt }: Permit, holdMs: number | undefined): void {
    const wall = this.#options.effects.now();
    this.#starts = [];
    this.#nextAt = 0;
    this.#change((limit, now) => [slow(limit, now, { startedAt, holdMs, wall }), undefined]).catch(() => undefined);
  }

  /** No permit may be taken afterwards. */
  async close(): Promise<void> {
    clearInterval(this.#touch);
    const store = this.#store;
    if (this.#touch !== undefined) {
      // Other processes get its share at once, not after its time-out. An unreachable server is not waited for.
      const left = this.#change((limit) => [removeHolder(limit, this.#id), undefined]).catch(() => undefined);
      const patience = new AbortController();
      const late = this.#options.effects
        .sleep(CLOSE_TIMEOUT_MS, patience.signal, { ref: false })
        .catch(() => undefined);
      await Promise.race([left, late]);
      patience.abort();
    }
    this.#end.abort(new SourceError('source: closed'));
    (await store?.catch(() => undefined))?.close();
  }

  #wake(): void {
    if (this.#isServing || this.#end.signal.aborted) return;
    this.#isServing = true;
    this.#serve()
      .catch((error: unknown) => {
        if (this.#end.signal.aborted) return;
        for (const waiter of [...this.#waiters]) waiter.fail(error);
      })
      .finally(() => {
        this.#isServing = false;
        if (this.#waiters.size > 0) this.#wake();
      });
  }

  /** Admits requests until none waits. */
  async #serve(): Promise<void> {
    const store = await this.#open();
    while (this.#waiters.size > 0) {
      const now = store.now();
      this.#starts = this.#starts.filter((at) => at >= now - LATEST_MS);
      const [startedAt = Number.POSITIVE_INFINITY] = this.#starts;
      const nextAt = this.#starts.length < this.#waiters.size ? this.#nextAt : Number.POSITIVE_INFINITY;
      if (startedAt <= now) {
        this.#starts = this.#starts.slice(1);
        this.#recent.add(now);
        const [waiter] = this.#waiters;
        waiter?.admit({ startedAt });
      } else if (nextAt <= now) {
        await this.#announce();
      } else {
        await this.#options.effects.sleep(Math.min(startedAt, nextAt) - now, this.#end.signal);
      }
    }
  }

  /** Announces the waiting requests, and takes starts for them. */
  async #announce(): Promise<void> {
    const { priority, rps, command } = this.#options;
    const { starts, nextAt } = await this.#change((limit, now) => {
      const { share, usedLastMinute } = this.#recent.summary(now);
      const caller = { pid: process.pid, host: hostname(), command, priority, rps, share, usedLastMinute };
      return take(limit, now, this.#id, caller, Math.max(0, this.#waiters.size - this.#starts.length));
    });
    this.#starts = [...this.#starts, ...starts];
    this.#nextAt = nextAt;
  }

  async #change<T>(change: Change<T>): Promise<T> {
    const changed = this.#lastChange.then(async () => {
      const store = await this.#open();
      return store.change((limit, now) => {
        const [next, result] = change(limit, now);
        this.#rps = rateAt(next, now);
        return [next, result];
      });
    });
    this.#lastChange = changed.catch(() => undefined);
    return changed;
  }

  async #open(): Promise<LimitStore> {
    this.#store ??= this.#options.openStore();
    const opening = this.#store;
    try {
      const store = await opening;
      if (store.isShared && this.#touch === undefined && !this.#end.signal.aborted) {
        // An idle process still counts: its maximum applies, and `status --budget` shows it.
        this.#touch = setInterval(() => {
          if (this.#waiters.size === 0) this.#announce().catch(() => undefined);
        }, TOUCH_MS).unref();
      }
      return store;
    } catch (error) {
      this.#store = undefined;
      throw error;
    }
  }
}

/** The given rate, or the default of the network. @throws {UsageError} if it is not above 0 */
function resolveRps(given: Rps, limits: DefaultRps | undefined, isKeyed: boolean): Rps {
  const rps = given ?? (isKeyed ? limits?.withKey : limits?.withoutKey);
  if (rps === undefined || rps === 'auto') return rps;
  if (rps === Number.POSITIVE_INFINITY) return undefined;
  if (rps > 0) return rps;
  throw usage('a rate above 0 requests per second', rps, '--rps 1, or --rps auto');
}
