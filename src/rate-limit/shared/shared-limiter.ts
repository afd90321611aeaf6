import { setTimeout as delay } from 'node:timers/promises';
import type { Effects } from '../../core/effects.ts';
import { oneLine, SourceError } from '../../core/errors.ts';
import type { Environment } from '../../http/dispatcher.ts';
import type { Secret } from '../../http/secret.ts';
import type { RateLimiter } from '../limiter.ts';
import type { Priority } from '../priority.ts';
import { Waiters } from '../waiters.ts';
import type { StateFolder } from './state-folder.ts';

const CONTEND_MS = { least: 5, spread: 20 };
const LONGEST_CONTEST_MS = 15_000;
/** Start time of a request permitted by another leader, whose clock is unknown: such requests slow a leader down once. */
const LONG_AGO = 0;
/** Hint if the state folder cannot be used. */
export const STATE_HINT = 'set TONLAKE_STATE_DIR to a writable folder';
const OTHER_HINT = 'end that process, or start it again with this version';

export interface SharedLimiterOptions {
  readonly baseUrl: string;
  readonly key: Secret | undefined;
  readonly rps: number | 'auto';
  readonly priority: Priority;
  /** What tonlake is doing, for `status --budget`. Default `tonlake`. */
  readonly command?: string | undefined;
  readonly env: Environment;
  readonly effects: Effects;
  /** Called when a Redis server is away. Default: a process warning. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** What permits the requests of this process: the leader of a term, in this process or in another. */
interface Place {
  readonly term: number;
  readonly rps: number;
  ask(ticket: number): void;
  drop(ticket: number): void;
  slow(startedAt: number, holdMs: number | undefined): void;
  close(): void;
}

/**
 * A limiter that all processes of this machine share for one network and key. One process, the leader, starts the requests of all
 * over a Unix socket; when it ends, its socket closes and the others elect a new one. Nothing is opened before the first request.
 */
export class SharedLimiter implements RateLimiter {
  readonly #options: SharedLimiterOptions;
  readonly #holder: { pid: number; command: string; priority: Priority; rps: number | 'auto' };
  readonly #waiters = new Waiters();
  #place: Place | undefined;
  #isJoining = false;
  #rps: number | undefined;
  /** Term of a leader that stopped responding. */
  #silentTerm: number | undefined;
  /** A 429 that came while there was no leader. */
  #missed: { readonly holdMs: number | undefined } | undefined;
  #isClosed = false;

  constructor(options: SharedLimiterOptions) {
    const { key, priority, rps, command = 'tonlake' } = options;
    this.#options = options;
    this.#holder = { pid: process.pid, command: key?.redact(command) ?? command, priority, rps };
  }

  get rps(): number {
    const { rps } = this.#options;
    return this.#place?.rps ?? this.#rps ?? (rps === 'auto' ? 1 : rps);
  }

  take(signal: AbortSignal): ReturnType<RateLimiter['take']> {
    return this.#waiters.take(
      signal,
      (ticket) => this.#ask(ticket),
      (ticket) => this.#place?.drop(ticket),
    );
  }

  slow(permit: { readonly startedAt: number; readonly term?: number | undefined }, holdMs: number | undefined): void {
    const place = this.#place;
    if (place === undefined) this.#missed = { holdMs };
    else place.slow(permit.term === place.term ? permit.startedAt : LONG_AGO, holdMs);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#place?.close();
    this.#place = undefined;
  }

  #ask(ticket: number): void {
    if (this.#place !== undefined) this.#place.ask(ticket);
    else if (!this.#isJoining && !this.#isClosed) {
      this.#isJoining = true;
      this.#join().catch((error: unknown) => this.#refuse(error));
    }
  }

  async #join(): Promise<void> {
    const { env, baseUrl, key, effects } = this.#options;
    const parts = await loadParts();
    const folder = parts.openStateFolder(env, baseUrl, key);
    const since = effects.monotonic();
    for (;;) {
      const place = await this.#findPlace(folder, parts);
      if (this.#isClosed) {
        place?.close();
        return;
      }
      if (place !== undefined) {
        this.#place = place;
        this.#isJoining = false;
        if (this.#missed !== undefined) this.slow({ startedAt: LONG_AGO }, this.#missed.holdMs);
        this.#missed = undefined;
        for (const ticket of this.#waiters.tickets) this.#ask(ticket);
        return;
      }
      if (effects.monotonic() - since > LONGEST_CONTEST_MS)
        throw new SourceError('source: expected to share the rate limit with other processes, got no answer', {
          ...{ code: 'no-leader', retryable: true, hint: STATE_HINT },
        });
      await delay(CONTEND_MS.least + effects.random() * CONTEND_MS.spread);
    }
  }

  async #findPlace(folder: StateFolder, parts: Parts): Promise<Place | undefined> {
    const known = parts.readLeader(folder);
    if (known !== undefined && known.socket !== '' && known.term !== this.#silentTerm) {
      const connection = await parts.connectToLeader({
        socket: known.socket,
        holder: this.#holder,
        isWaiting: () => this.#waiters.size > 0,
        onGo: (ticket, startedAt, term) => this.#waiters.admit(ticket, { startedAt, term }),
        onEnd: (term, isSilent) => {
          if (isSilent) this.#silentTerm = term;
          this.#rejoin();
        },
      });
      if (!('kind' in connection)) return connection;
      if (connection.kind === 'refused') throw cannotShare(connection.reason, OTHER_HINT);
    }
    const term = (known?.term ?? 0) + 1;
    const { effects } = this.#options;
    const onDeposed = (): void => this.#rejoin();
    const leader = await parts.becomeLeader({ folder, term, effects, rps: this.#rps, onDeposed });
    if (leader === undefined) return undefined;
    const seat = leader.join(this.#holder, {
      go: (ticket, startedAt) => this.#waiters.admit(ticket, { startedAt, term }),
      fail: (reason) => this.#waiters.failAll(reason),
    });
    const { dispatcher } = leader;
    return {
      term,
      get rps() {
        return dispatcher.pool.rateAt(effects.monotonic());
      },
      ask: (ticket) => dispatcher.ask(seat, ticket),
      drop: (ticket) => dispatcher.drop(seat, ticket),
      slow: (startedAt, holdMs) => leader.slow(startedAt, holdMs),
      close: () => leader.close(),
    };
  }

  /** The leader is gone, or no longer this process: waiting requests join again. */
  #rejoin(): void {
    if (this.#isClosed) return;
    this.#rps = this.rps;
    this.#place = undefined;
    this.#isJoining = false;
    const [ticket] = this.#waiters.tickets;
    if (ticket !== undefined) this.#ask(ticket);
  }

  /** Nothing starts without the limit, as with Redis: two processes that each take all of it would exceed it. */
  #refuse(cause: unknown): void {
    this.#isJoining = false;
    if (this.#isClosed) return;
    this.#waiters.failAll(cause instanceof SourceError ? cause : cannotShare(cause, STATE_HINT));
  }
}

function cannotShare(cause: unknown, hint: string): SourceError {
  const detail = oneLine(cause instanceof Error ? cause.message : String(cause));
  const message = `source: expected to share the rate limit with other processes, got ${detail}`;
  return new SourceError(message, { code: 'no-state', hint, cause });
}

type Parts = Awaited<ReturnType<typeof loadParts>>;

/** Loaded with the first request. */
async function loadParts() {
  const [{ connectToLeader }, { becomeLeader }, { openStateFolder, readLeader }] = await Promise.all([
    import('./follower.ts'),
    import('./leader.ts'),
    import('./state-folder.ts'),
  ]);
  return { connectToLeader, becomeLeader, openStateFolder, readLeader };
}
