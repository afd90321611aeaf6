import { AdaptiveRate, type RateMemory } from './adaptive-rate.ts';
import { Pace } from './pace.ts';
import { PRIORITIES, type Priority } from './priority.ts';
import { FixedRate, type Rate } from './rate.ts';
import { RecentRequests } from './recent-requests.ts';

/** A client of the rate limit, as shown to others. */
export interface Holder {
  readonly pid: number;
  /** Command of the process, for display. */
  readonly command: string;
  readonly priority: Priority;
  /** Its own cap, `auto`, or undefined without a limit. */
  readonly rps: number | 'auto' | undefined;
}

/** State of a holder: its waiting and recent requests. */
export interface Seat extends Holder {
  readonly recent: RecentRequests;
  /** Tickets of waiting requests, in order. */
  readonly waiting: Set<number>;
  servedAt: number;
  /** Enforces its own cap if others may go faster. */
  readonly pace: Pace;
}

/** The next request to start, or when to check again. */
export type Turn =
  | { readonly kind: 'go'; readonly seat: Seat; readonly ticket: number }
  | { readonly kind: 'wait'; readonly until: number }
  | { readonly kind: 'idle' };

/**
 * The shared rate limit of one network; the caller passes the time. All holders share one pace, with strict priorities and fair turns
 * within a priority. The rate is the highest of any holder, or adaptive if one has `auto`; no holder exceeds its own rate.
 */
export class Pool {
  readonly recent = new RecentRequests();
  readonly #seats = new Set<Seat>();
  readonly #fixed = new FixedRate(undefined);
  readonly #pace: Pace;
  #auto: AdaptiveRate | undefined;
  #isAuto = false;
  #memory: RateMemory;
  #last429: number | undefined;

  constructor(memory: RateMemory = {}) {
    this.#memory = memory;
    const rate = (): Rate => (this.#isAuto && this.#auto !== undefined ? this.#auto : this.#fixed);
    this.#pace = new Pace({
      at: (now) => rate().at(now),
      recordStart: (now) => rate().recordStart(now),
      slow: (startedAt, now) => rate().slow(startedAt, now),
    });
  }

  get seats(): readonly Seat[] {
    return [...this.#seats];
  }

  /** Highest given rate; undefined for `auto` or no limit. */
  get cap(): number | undefined {
    return this.#isAuto ? undefined : this.#highest();
  }

  /** The limit found by `auto`, if any. */
  get found(): number | undefined {
    return this.#auto === undefined ? this.#memory.found : this.#auto.found;
  }

  /** Time of the last 429. */
  get last429(): number | undefined {
    return this.#last429;
  }

  get heldUntil(): number {
    return this.#pace.heldUntil;
  }

  rateAt(now: number): number {
    return this.#pace.rateAt(now);
  }

  join(holder: Holder): Seat {
    const { rps } = holder;
    const pace = new Pace(typeof rps === 'number' ? rps : undefined);
    const seat: Seat = {
      ...holder,
      pace,
      recent: new RecentRequests(),
      waiting: new Set(),
      servedAt: Number.NEGATIVE_INFINITY,
    };
    this.#seats.add(seat);
    this.#retune();
    return seat;
  }

  leave(seat: Seat): void {
    this.#seats.delete(seat);
    if (this.#seats.size > 0) this.#retune();
  }

  /** Continues for a previous leader whose last request started at `lastStart`. */
  resume(lastStart: number): void {
    this.#pace.resume(lastStart);
  }

  next(now: number): Turn {
    const waiting = this.seats.filter((seat) => seat.waiting.size > 0);
    if (waiting.length === 0) return { kind: 'idle' };
    const until = this.#pace.nextStart(now);
    if (until > now) return { kind: 'wait', until };
    waiting.sort((a, b) => PRIORITIES.indexOf(a.priority) - PRIORITIES.indexOf(b.priority) || a.servedAt - b.servedAt);
    let soonest = Number.POSITIVE_INFINITY;
    for (const seat of waiting) {
      const at = seat.pace.nextStart(now);
      const [ticket] = seat.waiting;
      if (at <= now && ticket !== undefined) return { kind: 'go', seat, ticket };
      soonest = Math.min(soonest, at);
    }
    return { kind: 'wait', until: soonest };
  }

  /** Records the start of a request. */
  start(seat: Seat, ticket: number, now: number): void {
    seat.waiting.delete(ticket);
    seat.servedAt = now;
    seat.pace.recordStart(now);
    seat.recent.add(now);
    this.recent.add(now);
    this.#pace.recordStart(now);
  }

  slow(startedAt: number, now: number, holdMs: number | undefined): void {
    this.#last429 = now;
    this.#pace.slow(startedAt, now, holdMs);
  }

  #highest(): number | undefined {
    const told = this.seats.map(({ rps }) => rps).filter((rps) => typeof rps === 'number');
    return told.length === 0 ? undefined : Math.max(...told);
  }

  #retune(): void {
    this.#isAuto = this.seats.some(({ rps }) => rps === 'auto');
    const highest = this.#highest();
    this.#fixed.retune(highest);
    if (this.#isAuto && this.#auto === undefined) {
      this.#auto = new AdaptiveRate({ ...this.#memory, rps: this.#memory.rps ?? highest });
    }
  }
}
