import { setTimeout as delay } from 'node:timers/promises';
import type { Effects } from '../../core/effects.ts';
import type { Environment } from '../../http/dispatcher.ts';
import type { Secret } from '../../http/secret.ts';
import { openLimiter, type RateLimiter } from '../limiter.ts';
import type { Seat } from '../permit-pool.ts';
import type { Priority } from '../priority.ts';
import { Waiters } from '../waiters.ts';
import type { Line } from './follower.ts';
import type { Leader } from './leader.ts';
import type { StateFolder } from './state-folder.ts';

const CONTEND_MS = { least: 5, spread: 20 };
const LONGEST_CONTEST_MS = 15_000;
/** Start of a request that another leader let go: its clock says nothing, so all such requests slow a leader once. */
const LONG_AGO = 0;
/** What to do where the state folder cannot be used. */
export const STATE_HINT = 'set TONLAKE_STATE_DIR to a writable folder';

export interface SharedLimiterOptions {
  /** Base address of the network. */
  readonly baseUrl: string;
  readonly key: Secret | undefined;
  readonly rps: number | 'auto';
  readonly priority: Priority;
  /** What tonlake is doing, for `status --budget`. Default `tonlake`. */
  readonly command?: string | undefined;
  readonly env: Environment;
  readonly effects: Effects;
  /** Told once when the budget cannot be shared. Default: a warning of the process. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** Where this process stands: it keeps the budget, asks the leader, is about to do either, or is on its own. */
type Place =
  | { readonly kind: 'none' }
  | { readonly kind: 'joining' }
  | { readonly kind: 'leader'; readonly leader: Leader; readonly seat: Seat }
  | { readonly kind: 'line'; readonly line: Line }
  | { readonly kind: 'alone'; readonly budget: RateLimiter };

/**
 * The budget that all processes of this machine share for one network and key. One of them keeps it and lets everybody's
 * requests start, over a Unix socket; when it ends, in whatever way, its socket closes and the others elect the next.
 * Nothing is opened before the first request.
 */
export function openSharedLimiter(options: SharedLimiterOptions): RateLimiter {
  return new SharedBudget(options);
}

class SharedBudget implements RateLimiter {
  readonly #options: SharedLimiterOptions;
  readonly #holder: { pid: number; command: string; priority: Priority; rps: number | 'auto' };
  readonly #waiters = new Waiters();
  #place: Place = { kind: 'none' };
  #rps: number | undefined;
  /** Term of a leader that accepted requests and went silent. */
  #silentTerm: number | undefined;
  /** A 429 that came while there was no leader to tell. */
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
      case 'line':
        return place.line.rps;
      case 'alone':
        return place.budget.rps;
      default:
        return this.#rps ?? (this.#options.rps === 'auto' ? 1 : this.#options.rps);
    }
  }

  take(signal: AbortSignal): ReturnType<RateLimiter['take']> {
    if (this.#place.kind === 'alone') return this.#place.budget.take(signal);
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
      case 'line':
        place.line.slow(permit.term === place.line.term ? permit.startedAt : LONG_AGO, holdMs);
        return;
      case 'alone':
        place.budget.slow(permit, holdMs);
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
    if (place.kind === 'line') place.line.close();
    if (place.kind === 'alone') void place.budget.close();
  }

  #ask(ticket: number): void {
    const place = this.#place;
    if (place.kind === 'leader') place.leader.dispatcher.ask(place.seat, ticket);
    else if (place.kind === 'line') place.line.ask(ticket);
    else if (place.kind === 'none' && !this.#isClosed) {
      this.#place = { kind: 'joining' };
      this.#join().catch((error: unknown) => this.#goAlone(error));
    }
  }

  #drop(ticket: number): void {
    const place = this.#place;
    if (place.kind === 'leader') place.leader.dispatcher.drop(place.seat, ticket);
    if (place.kind === 'line') place.line.drop(ticket);
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
      const line = await parts.connectToLeader({
        socket: known.socket,
        holder: this.#holder,
        isWaiting: () => this.#waiters.size > 0,
        onGo: (ticket, startedAt, term) => this.#waiters.admit(ticket, { startedAt, term }),
        onEnd: (term, isSilent) => {
          if (isSilent) this.#silentTerm = term;
          this.#rejoin();
        },
      });
      if (!('kind' in line)) return { kind: 'line', line };
      if (line.kind === 'refused') throw new Error(line.reason);
    }
    const term = (known?.term ?? 0) + 1;
    const onDeposed = (): void => this.#rejoin();
    const leader = await parts.becomeLeader({
      folder,
      term,
      effects: this.#options.effects,
      rps: this.#rps,
      onDeposed,
    });
    if (leader === undefined) return undefined;
    const seat = leader.join(this.#holder, {
      go: (ticket, startedAt) => this.#waiters.admit(ticket, { startedAt, term }),
      fail: (reason) => this.#waiters.failAll(reason),
    });
    return { kind: 'leader', leader, seat };
  }

  /** The leader is gone, or no longer this process: whoever waits here asks again. */
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
    const detail = cause instanceof Error ? cause.message.replace(/\s*[\r\n]+\s*/g, ' ') : String(cause);
    const message = `source: cannot share the rate limit with other processes (${detail}); hint: ${STATE_HINT}`;
    if (onWarning === undefined) process.emitWarning(message, { code: 'TONLAKE_BUDGET' });
    else onWarning(message);
    const budget = openLimiter(rps, effects, { rps: rps === 'auto' ? this.#rps : undefined }, priority);
    this.#place = { kind: 'alone', budget };
    const over = new AbortController();
    for (const ticket of this.#waiters.tickets) {
      budget.take(over.signal).then(
        (permit) => this.#waiters.admit(ticket, permit),
        (reason: unknown) => this.#waiters.failAll(reason),
      );
    }
  }
}

type Parts = Awaited<ReturnType<typeof loadParts>>;

/** Loaded with the first request: a budget without a limit never needs them. */
async function loadParts() {
  const [{ connectToLeader }, { becomeLeader }, { openStateFolder, readLeader }] = await Promise.all([
    import('./follower.ts'),
    import('./leader.ts'),
    import('./state-folder.ts'),
  ]);
  return { connectToLeader, becomeLeader, openStateFolder, readLeader };
}
