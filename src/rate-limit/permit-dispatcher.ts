import type { Effects } from '../core/effects.ts';
import type { Holder, Pool, Seat } from './permit-pool.ts';

/** Notified when a request may start, or when the clock failed. */
export interface Caller {
  go(ticket: number, startedAt: number): void;
  fail(reason: unknown): void;
}

/** A sleep until the next request may start. */
interface Nap {
  readonly controller: AbortController;
  until: number;
}

/** Starts the requests of a pool in time. There is one sleep at a time, so that a 429 also delays requests that already wait. */
export class PermitDispatcher {
  readonly pool: Pool;
  readonly #effects: Effects;
  readonly #mayServe: () => boolean;
  readonly #callers = new Map<Seat, Caller>();
  #nap: Nap | undefined;
  #isServing = false;
  #isClosed = false;

  /** @param mayServe called before every start; false stops at once */
  constructor(pool: Pool, effects: Effects, mayServe = (): boolean => true) {
    this.pool = pool;
    this.#effects = effects;
    this.#mayServe = mayServe;
  }

  join(holder: Holder, caller: Caller): Seat {
    const seat = this.pool.join(holder);
    this.#callers.set(seat, caller);
    this.#look();
    return seat;
  }

  leave(seat: Seat): void {
    this.#callers.delete(seat);
    this.pool.leave(seat);
    this.#look();
  }

  ask(seat: Seat, ticket: number): void {
    seat.waiting.add(ticket);
    this.#look();
  }

  drop(seat: Seat, ticket: number): void {
    if (seat.waiting.delete(ticket)) this.#look();
  }

  slow(startedAt: number, holdMs: number | undefined): void {
    this.pool.slow(startedAt, this.#effects.monotonic(), holdMs);
  }

  /** Nothing starts afterwards. */
  close(): void {
    this.#isClosed = true;
    this.#nap?.controller.abort();
    this.#nap = undefined;
  }

  /** Starts to serve, or ends a sleep that is too long or no longer needed. */
  #look(): void {
    if (this.#isClosed || this.#isServing) return;
    if (this.#nap !== undefined) {
      const turn = this.pool.next(this.#effects.monotonic());
      if (turn.kind === 'wait' && turn.until >= this.#nap.until) return;
      this.#nap.controller.abort();
      this.#nap = undefined;
      if (turn.kind === 'idle') return;
    }
    this.#serve();
  }

  /** Starts what may start, and sleeps until the next one may. */
  #serve(): void {
    try {
      this.#isServing = true;
      const until = this.#admit();
      if (until !== undefined && !this.#isClosed) this.#sleep(until);
    } catch (reason) {
      this.#fail(reason);
    } finally {
      this.#isServing = false;
    }
  }

  #sleep(until: number): void {
    const nap: Nap = { controller: new AbortController(), until };
    const { signal } = nap.controller;
    this.#nap = nap;
    this.#effects.sleep(until - this.#effects.monotonic(), signal).then(
      () => {
        if (signal.aborted) return;
        this.#nap = undefined;
        this.#serve();
      },
      (reason: unknown) => {
        if (signal.aborted) return;
        this.#nap = undefined;
        this.#fail(reason);
      },
    );
  }

  #fail(reason: unknown): void {
    for (const [seat, caller] of this.#callers) {
      seat.waiting.clear();
      caller.fail(reason);
    }
  }

  /** Starts all requests that may start now; returns when to continue, or undefined if none wait. */
  #admit(): number | undefined {
    for (;;) {
      const now = this.#effects.monotonic();
      const turn = this.pool.next(now);
      if (turn.kind === 'idle') return undefined;
      if (turn.kind === 'wait') return turn.until;
      if (!this.#mayServe()) return undefined;
      this.pool.start(turn.seat, turn.ticket, now);
      this.#callers.get(turn.seat)?.go(turn.ticket, now);
    }
  }
}
