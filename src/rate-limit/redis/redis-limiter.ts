import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { SourceError, type TonlakeError } from '../../core/errors.ts';
import type { RedisAddress } from '../../redis/redis-address.ts';
import type { RateLimiter } from '../limiter.ts';
import type { Permit } from '../permit.ts';
import { PRIORITIES } from '../priority.ts';
import { RecentRequests } from '../recent-requests.ts';
import type { SharedLimiterOptions } from '../shared/shared-limiter.ts';
import { Waiters } from '../waiters.ts';
import type { BudgetServer, ScriptArgument } from './budget-server.ts';

export interface RedisLimiterOptions extends SharedLimiterOptions {
  readonly address: RedisAddress;
}

/** How often a process says that it is there, and what it uses. */
const TOUCH_MS = 1000;
/** A server that was reached before may be away for so long. */
const PATIENCE_MS = 60_000;
const RETRY_MS = 250;
const SHARE_SECONDS = 10;
const MOST_STARTS = 64;
/** How long the end waits for the server. */
const LEAVE_MS = 250;

/** What the server answered last. */
interface Known {
  readonly epoch: string;
  readonly rps: number;
  readonly found: number | undefined;
  /** End of the pause after a 429, on the clock of this process. */
  readonly heldUntil: number;
}

/**
 * A limiter that all machines share through Redis for one network and key. Nothing is opened before the first request. Each process asks
 * for itself, so that priorities and turns hold between all of them.
 */
export class RedisLimiter implements RateLimiter {
  readonly #options: RedisLimiterOptions;
  readonly #id: string;
  readonly #waiters = new Waiters();
  readonly #recent = new RecentRequests();
  readonly #end = new AbortController();
  #server: BudgetServer | undefined;
  #known: Known | undefined;
  #isAsking = false;
  #touch: NodeJS.Timeout | undefined;
  #touchedAt = Number.NEGATIVE_INFINITY;
  #lostAt: number | undefined;
  /** Refusals that could not be told yet. */
  readonly #refusals: (readonly ScriptArgument[])[] = [];

  constructor(options: RedisLimiterOptions) {
    this.#options = options;
    this.#id = options.effects.freshId();
  }

  get rps(): number {
    const { rps } = this.#options;
    return this.#known?.rps ?? (rps === 'auto' ? 1 : rps);
  }

  take(signal: AbortSignal): Promise<Permit> {
    return this.#waiters.take(
      signal,
      () => this.#wake(),
      () => undefined,
    );
  }

  slow({ startedAt }: Permit, holdMs: number | undefined): void {
    if (this.#end.signal.aborted) return;
    this.#refusals.push([startedAt.toFixed(3), holdMs ?? '']);
    // What could not be told goes before the next question.
    this.#tellRefusals().catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#end.abort(new SourceError('source: closed', { code: 'closed' }));
    clearInterval(this.#touch);
    const server = this.#server;
    // The others take its share at once, not after it was silent for some seconds. Nobody waits for a server that is away.
    await Promise.race([
      server?.runIfOpen('leave', this.#id).catch(() => undefined),
      delay(LEAVE_MS, undefined, { ref: false }),
    ]);
    server?.close();
  }

  /** Asks for permits as long as requests wait; one question at a time. */
  #wake(): void {
    if (this.#isAsking || this.#end.signal.aborted) return;
    this.#isAsking = true;
    this.#askAll()
      .catch((error: unknown) => {
        if (!this.#end.signal.aborted) this.#waiters.failAll(error);
      })
      .finally(() => {
        this.#isAsking = false;
      });
  }

  async #askAll(): Promise<void> {
    while (this.#waiters.size > 0) {
      const wanted = Math.min(this.#waiters.size, MOST_STARTS);
      const waitMs = await this.#ask(wanted).catch((error: unknown) => this.#wait(error));
      if (waitMs > 0 && this.#waiters.size > 0) await this.#sleep(waitMs);
    }
  }

  /** Takes permits; returns the time after which to ask again. */
  async #ask(wanted: number): Promise<number> {
    const { priority, rps, effects } = this.#options;
    await this.#tellRefusals();
    const before = this.#known;
    const asked = effects.monotonic();
    const { waitMs, starts } = this.#read(
      await this.#run(
        ...['take', this.#id, wanted, PRIORITIES.indexOf(priority), rps, this.#label(asked), before?.epoch ?? ''],
        ...[before?.found ?? '', before?.rps ?? '', before === undefined ? 0 : Math.max(0, before.heldUntil - asked)],
      ),
    );
    this.#startTouching();
    const now = effects.monotonic();
    for (const startedAt of starts) {
      const [ticket] = this.#waiters.tickets;
      if (ticket === undefined) continue;
      this.#recent.add(now);
      this.#waiters.admit(ticket, { startedAt });
    }
    return waitMs;
  }

  #read(answer: unknown): { readonly waitMs: number; readonly starts: readonly number[] } {
    // The script is ours: six values, numbers as text.
    const [epoch, wait, rps, found, held, starts] = answer as [string, string, string, string, string, string[]];
    const now = this.#options.effects.monotonic();
    this.#known = {
      epoch,
      rps: rps === '' ? Number.POSITIVE_INFINITY : Number(rps),
      found: found === '' ? undefined : Number(found),
      heldUntil: now + Number(held),
    };
    return { waitMs: Number(wait), starts: starts.map(Number) };
  }

  /** What `status` shows of this process, at most once a second. */
  #label(now: number): string {
    if (now - this.#touchedAt < TOUCH_MS) return '';
    this.#touchedAt = now;
    const { key, command = 'tonlake' } = this.#options;
    return JSON.stringify({
      ...{ pid: process.pid, host: hostname(), command: key?.redact(command) ?? command },
      share: this.#recent.within(SHARE_SECONDS, now) / SHARE_SECONDS,
      usedLastMinute: this.#recent.within(60, now),
    });
  }

  /** While nothing waits, the process still counts: its maximum holds, and it is shown. */
  #startTouching(): void {
    if (this.#touch !== undefined || this.#end.signal.aborted) return;
    this.#touch = setInterval(() => {
      if (this.#waiters.size === 0) this.#ask(0).catch(() => undefined);
    }, TOUCH_MS);
    this.#touch.unref();
  }

  async #tellRefusals(): Promise<void> {
    for (let refusal = this.#refusals.shift(); refusal !== undefined; refusal = this.#refusals.shift()) {
      try {
        this.#read(await this.#run('slow', ...refusal));
      } catch (error) {
        this.#refusals.unshift(refusal);
        throw error;
      }
    }
  }

  async #run(operation: string, ...given: readonly ScriptArgument[]): Promise<unknown> {
    const { address, env, baseUrl, key } = this.#options;
    if (this.#server === undefined) {
      const { BudgetServer: Server } = await import('./budget-server.ts');
      this.#server ??= new Server(address, env, baseUrl, key);
    }
    const answer = await this.#server.run(operation, ...given);
    this.#lostAt = undefined;
    return answer;
  }

  /** A server that was reached before may come back. @throws the failure, if it is lasting or takes too long */
  #wait(error: unknown): number {
    const now = this.#options.effects.monotonic();
    // Only errors of the connection reach this.
    const failure = error as TonlakeError;
    if (!failure.retryable || this.#known === undefined) throw finalFailure(failure);
    if (this.#lostAt === undefined) {
      this.#lostAt = now;
      this.#warn(`${failure.message}; waiting for it`);
    }
    if (now - this.#lostAt > PATIENCE_MS) throw finalFailure(failure);
    return RETRY_MS;
  }

  #warn(message: string): void {
    const { onWarning } = this.#options;
    if (onWarning === undefined) process.emitWarning(message, { code: 'TONLAKE_BUDGET' });
    else onWarning(message);
  }

  #sleep(ms: number): Promise<void> {
    return this.#options.effects.sleep(Math.min(ms, TOUCH_MS), this.#end.signal);
  }
}

/** The same, so that nobody tries again: this limiter has waited as long as it makes sense. */
function finalFailure({ message, code, hint = '', cause }: TonlakeError): SourceError {
  return new SourceError(message, { code, hint, cause });
}
