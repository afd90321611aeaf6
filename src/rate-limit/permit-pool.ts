import { AdaptiveRate, type RateMemory } from './adaptive-rate.ts';
import { Pace } from './pace.ts';
import { PRIORITIES, type Priority } from './priority.ts';
import { FixedRate, type Rate } from './rate.ts';
import { RecentRequests } from './recent-requests.ts';

/** Somebody who asks the network, as others see it. */
export interface Holder {
  readonly pid: number;
  /** What the process does, for people. */
  readonly command: string;
  readonly priority: Priority;
  /** Its own cap, `auto`, or undefined without a limit. */
  readonly rps: number | 'auto' | undefined;
}

/** A holder's place in the pool: what it waits for, and what it had. */
export interface Seat extends Holder {
  readonly recent: RecentRequests;
  /** Numbers of the requests that wait, in order. */
  readonly waiting: Set<number>;
  servedAt: number;
  /** Its own cap as a pace, so that it keeps to it where others may go faster. */
  readonly pace: Pace;
}

/** Who may start, or when to look again. */
export type Turn =
  | { readonly kind: 'go'; readonly seat: Seat; readonly ticket: number }
  | { readonly kind: 'wait'; readonly until: number }
  | { readonly kind: 'idle' };

/**
 * The budget of one network as arithmetic on a clock that the caller reads: one pace for all holders, strict priorities, and fair
 * turns within a priority. Its rate is the highest told by any holder, found by trying as soon as one says `auto`; no holder goes
 * faster than it was told itself.
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

  /** Highest told rate; undefined while the limit is being found, or when there is none. */
  get cap(): number | undefined {
    return this.#isAuto ? undefined : this.#highest();
  }

  /** The limit that was found by trying, if any. */
  get found(): number | undefined {
    return this.#auto === undefined ? this.#memory.found : this.#auto.found;
  }

  /** When the source last refused a request. */
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

  /** Somebody else kept this budget before, and let the last request start then. */
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

  /** Takes note that the request of a turn starts. */
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
