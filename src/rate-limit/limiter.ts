import { hostname } from 'node:os';
import type { Effects } from '../core/effects.ts';
import type { Environment } from '../core/environment.ts';
import { SourceError, usage } from '../core/errors.ts';
import type { DefaultRps, Network } from '../http/network.ts';
import type { Secret } from '../http/secret.ts';
import type { RedisAddress } from '../redis/redis-address.ts';
import { FIRST_RPS } from './adaptive-rate.ts';
import type { Limit } from './limit.ts';
import { memoryPlace, type Place } from './place.ts';
import { leave, rateAt, slow, take } from './policy.ts';
import type { Priority } from './priority.ts';
import { RecentRequests } from './recent-requests.ts';

/** Starts that are later by more are given up: a process that stood still must not catch up at once. */
const LATEST_MS = 250;
/** How often a process without requests says that it is there. */
const TOUCH_MS = 1000;
/** How long the end waits for a Redis server. */
const LEAVE_MS = 250;

/** Permit to start one request. */
export interface Permit {
  /** Milliseconds on the clock of the limit. */
  readonly startedAt: number;
}

/** A given rate, `auto` to find it, or undefined for no limit. */
export type Rps = number | 'auto' | undefined;

export interface SharedPlaceOptions {
  readonly baseUrl: string;
  readonly key: Secret | undefined;
  /** Shares the limit with other machines through this Redis server, instead of with processes of this machine. */
  readonly budgetAddress?: RedisAddress | undefined;
  readonly env: Environment;
  readonly effects: Effects;
  /** Called when a Redis server is away. Default: a process warning. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

export interface SourceLimiterOptions extends SharedPlaceOptions {
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
  const openPlace = (): Promise<Place> => openSharedPlace(options);
  return new RateLimiter({ rps, priority, effects, openPlace, command: key?.redact(command) ?? command });
}

/** Where the limit of a network and key is kept: on this machine, or in Redis. @throws {SourceError} if it cannot be used */
export async function openSharedPlace(options: SharedPlaceOptions): Promise<Place> {
  const { budgetAddress: address } = options;
  if (address === undefined) return (await import('./file-place.ts')).openFilePlace(options);
  return (await import('./redis-place.ts')).openRedisPlace({ ...options, address });
}

/** A limiter for this process only: first come, first served. */
export function openLimiter(rps: Rps, effects: Effects): RateLimiter {
  const openPlace = async (): Promise<Place> => memoryPlace(effects);
  return new RateLimiter({ rps, priority: 'backfill', effects, openPlace, command: 'tonlake' });
}

interface LimiterOptions {
  readonly rps: Rps;
  readonly priority: Priority;
  readonly effects: Effects;
  readonly command: string;
  /** Called before the first request. */
  readonly openPlace: () => Promise<Place>;
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
  /** When to ask for more. */
  #askAt = 0;
  #place: Promise<Place> | undefined;
  /** The last change; each waits for the one before. */
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
    this.#askAt = 0;
    this.#change((limit, now) => [slow(limit, now, { startedAt, holdMs, wall }), undefined]).catch(() => undefined);
  }

  /** No permit may be taken afterwards. */
  async close(): Promise<void> {
    clearInterval(this.#touch);
    const place = this.#place;
    if (this.#touch !== undefined) {
      // The others take its share at once, not after it was silent for some seconds. Nobody waits for a server that is away.
      const left = this.#change((limit) => [leave(limit, this.#id), undefined]).catch(() => undefined);
      const patience = new AbortController();
      const late = this.#options.effects.sleep(LEAVE_MS, patience.signal, { ref: false }).catch(() => undefined);
      await Promise.race([left, late]);
      patience.abort();
    }
    this.#end.abort(new SourceError('source: closed', { code: 'closed' }));
    (await place?.catch(() => undefined))?.close();
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

  /** Until no request waits. */
  async #serve(): Promise<void> {
    const place = await this.#open();
    while (this.#waiters.size > 0) {
      const now = place.now();
      this.#starts = this.#starts.filter((at) => at >= now - LATEST_MS);
      const [startedAt = Number.POSITIVE_INFINITY] = this.#starts;
      const askAt = this.#starts.length < this.#waiters.size ? this.#askAt : Number.POSITIVE_INFINITY;
      if (startedAt <= now) {
        this.#starts = this.#starts.slice(1);
        this.#recent.add(now);
        const [waiter] = this.#waiters;
        waiter?.admit({ startedAt });
      } else if (askAt <= now) {
        await this.#announce();
      } else {
        await this.#options.effects.sleep(Math.min(startedAt, askAt) - now, this.#end.signal);
      }
    }
  }

  /** Says what waits, and takes starts for it. */
  async #announce(): Promise<void> {
    const { priority, rps, command } = this.#options;
    const { starts, askAt } = await this.#change((limit, now) => {
      const { share, usedLastMinute } = this.#recent.summary(now);
      const caller = { pid: process.pid, host: hostname(), command, priority, rps, share, usedLastMinute };
      return take(limit, now, this.#id, caller, Math.max(0, this.#waiters.size - this.#starts.length));
    });
    this.#starts = [...this.#starts, ...starts];
    this.#askAt = askAt;
  }

  async #change<T>(change: (limit: Limit, now: number) => readonly [Limit, T]): Promise<T> {
    const changed = this.#lastChange.then(async () => {
      const place = await this.#open();
      return place.change((limit, now) => {
        const [next, result] = change(limit, now);
        this.#rps = rateAt(next, now);
        return [next, result];
      });
    });
    this.#lastChange = changed.catch(() => undefined);
    return changed;
  }

  async #open(): Promise<Place> {
    this.#place ??= this.#options.openPlace();
    const opening = this.#place;
    try {
      const place = await opening;
      if (place.isShared && this.#touch === undefined && !this.#end.signal.aborted) {
        // While nothing waits, the process still counts: its maximum holds, and it is shown.
        this.#touch = setInterval(() => {
          if (this.#waiters.size === 0) this.#announce().catch(() => undefined);
        }, TOUCH_MS).unref();
      }
      return place;
    } catch (error) {
      this.#place = undefined;
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
  throw usage('a rate above 0 requests per second', rps, {
    code: 'bad-rps',
    hint: '--rps 1, or --rps auto',
  });
}
