import { setTimeout as delay } from 'node:timers/promises';
import type { Effects } from '../../core/effects.ts';
import { oneLine } from '../../core/errors.ts';
import type { Environment } from '../../http/dispatcher.ts';
import type { Secret } from '../../http/secret.ts';
import { openLimiter, type RateLimiter } from '../limiter.ts';
import type { Seat } from '../permit-pool.ts';
import type { Priority } from '../priority.ts';
import { Waiters } from '../waiters.ts';
import type { LeaderConnection } from './follower.ts';
import type { Leader } from './leader.ts';
import type { StateFolder } from './state-folder.ts';

const CONTEND_MS = { least: 5, spread: 20 };
const LONGEST_CONTEST_MS = 15_000;
/** Start time of a request permitted by another leader, whose clock is unknown: such requests slow a leader down once. */
const LONG_AGO = 0;
/** Hint if the state folder cannot be used. */
export const STATE_HINT = 'set TONLAKE_STATE_DIR to a writable folder';

export interface SharedLimiterOptions {
  readonly baseUrl: string;
  readonly key: Secret | undefined;
  readonly rps: number | 'auto';
  readonly priority: Priority;
  /** What tonlake is doing, for `status --budget`. Default `tonlake`. */
  readonly command?: string | undefined;
  readonly env: Environment;
  readonly effects: Effects;
  /** Called once if the limiter cannot be shared. Default: a process warning. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** The role of this process: leader, follower, joining, or without shared state. */
type Place =
  | { readonly kind: 'none' }
  | { readonly kind: 'joining' }
  | { readonly kind: 'leader'; readonly leader: Leader; readonly seat: Seat }
  | { readonly kind: 'follower'; readonly connection: LeaderConnection }
  | { readonly kind: 'alone'; readonly limiter: RateLimiter };

/**
 * A limiter that all processes of this machine share for one network and key. One process, the leader, starts the requests of all
 * over a Unix socket; when it ends, its socket closes and the others elect a new one. Nothing is opened before the first request.
 */
export class SharedLimiter implements RateLimiter {
  readonly #options: SharedLimiterOptions;
  readonly #holder: { pid: number; command: string; priority: Priority; rps: number | 'auto' };
  readonly #waiters = new Waiters();
  #place: Place = { kind: 'none' };
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
    const place = this.#place;
    switch (place.kind) {
      case 'leader':
        return place.leader.dispatcher.pool.rateAt(this.#options.effects.monotonic());
      case 'follower':
        return place.connection.rps;
      case 'alone':
        return place.limiter.rps;
      default:
        return this.#rps ?? (this.#options.rps === 'auto' ? 1 : this.#options.rps);
    }
  }

  take(signal: AbortSignal): ReturnType<RateLimiter['take']> {
    if (this.#place.kind === 'alone') return this.#place.limiter.take(signal);
    return this.#waiters.take(
      signal,
      (ticket) => this.#ask(ticket),
      (ticket) => this.#drop(ticket),
    );
  }

  slow(permit: { readonly startedAt: number; readonly term?: number | undefined }, holdMs: number | undefined): void {
    const place = this.#place;
    switch (place.kind) {
      case 'leader':
        place.leader.slow(permit.term === place.leader.term ? permit.startedAt : LONG_AGO, holdMs);
        return;
      case 'follower':
        place.connection.slow(permit.term === place.connection.term ? permit.startedAt : LONG_AGO, holdMs);
        return;
      case 'alone':
        place.limiter.slow(permit, holdMs);
        return;
      default:
        this.#missed = { holdMs };
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const place = this.#place;
    this.#place = { kind: 'none' };
    this.#leave(place);
  }

  #leave(place: Place): void {
    if (place.kind === 'leader') place.leader.close();
    if (place.kind === 'follower') place.connection.close();
    if (place.kind === 'alone') void place.limiter.close();
  }

  #ask(ticket: number): void {
    const place = this.#place;
    if (place.kind === 'leader') place.leader.dispatcher.ask(place.seat, ticket);
    else if (place.kind === 'follower') place.connection.ask(ticket);
    else if (place.kind === 'none' && !this.#isClosed) {
      this.#place = { kind: 'joining' };
      this.#join().catch((error: unknown) => this.#goAlone(error));
    }
  }

  #drop(ticket: number): void {
    const place = this.#place;
    if (place.kind === 'leader') place.leader.dispatcher.drop(place.seat, ticket);
    if (place.kind === 'follower') place.connection.drop(ticket);
  }

  async #join(): Promise<void> {
    const { env, baseUrl, key, effects } = this.#options;
    const parts = await loadParts();
    const folder = parts.openStateFolder(env, baseUrl, key);
    const since = effects.monotonic();
    for (;;) {
      const place = await this.#findPlace(folder, parts);
      if (this.#isClosed) {
        if (place !== undefined) this.#leave(place);
        return;
      }
      if (place !== undefined) {
        this.#place = place;
        if (this.#missed !== undefined) this.slow({ startedAt: LONG_AGO }, this.#missed.holdMs);
        this.#missed = undefined;
        for (const ticket of this.#waiters.tickets) this.#ask(ticket);
        return;
      }
      if (effects.monotonic() - since > LONGEST_CONTEST_MS) throw new Error('no leader could be found');
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
      if (!('kind' in connection)) return { kind: 'follower', connection };
      if (connection.kind === 'refused') throw new Error(connection.reason);
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
    return { kind: 'leader', leader, seat };
  }

  /** The leader is gone, or no longer this process: waiting requests join again. */
  #rejoin(): void {
    if (this.#isClosed) return;
    this.#rps = this.rps;
    this.#place = { kind: 'none' };
    const [ticket] = this.#waiters.tickets;
    if (ticket !== undefined) this.#ask(ticket);
  }

  #goAlone(cause: unknown): void {
    if (this.#isClosed) return;
    const { rps, effects, priority, onWarning } = this.#options;
    const detail = oneLine(cause instanceof Error ? cause.message : String(cause));
    const message = `source: cannot share the rate limit with other processes (${detail}); hint: ${STATE_HINT}`;
    if (onWarning === undefined) process.emitWarning(message, { code: 'TONLAKE_BUDGET' });
    else onWarning(message);
    const limiter = openLimiter(rps, effects, { rps: rps === 'auto' ? this.#rps : undefined }, priority);
    this.#place = { kind: 'alone', limiter };
    const over = new AbortController();
    for (const ticket of this.#waiters.tickets) {
      limiter.take(over.signal).then(
        (permit) => this.#waiters.admit(ticket, permit),
        (reason: unknown) => this.#waiters.failAll(reason),
      );
    }
  }
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
