import { FixedRate, gapMs, type Rate } from './rate.ts';

/** No more than `ceil(rps)` starts within it; longer than a second by what a request may take longer on its way than the next. */
const WINDOW_MS = 1007;
/** A start that is late by no more than this does not put off those after it. */
const CATCH_UP_MS = 250;

/**
 * When requests may start, as arithmetic on a clock that the caller reads.
 *
 * Promise: every half-open window of one second holds at most `ceil(rps)` starts, whatever the demand; and while there is
 * demand, at least 97 % of `rps` start, as long as starts are at most some milliseconds late.
 */
export class Pace {
  readonly #rate: Rate;
  #heldUntil = Number.NEGATIVE_INFINITY;
  #due = Number.NEGATIVE_INFINITY;
  #starts: number[] = [];

  /** @param rate Requests per second, above 0; undefined for no limit; or a policy. */
  constructor(rate: number | undefined | Rate) {
    this.#rate = typeof rate === 'object' ? rate : new FixedRate(rate);
  }

  /** Requests per second at this time. */
  rateAt(now: number): number {
    return this.#rate.at(now);
  }

  /** Until when a 429 holds back all starts. */
  get heldUntil(): number {
    return this.#heldUntil;
  }

  /** The earliest time from `now` on at which one request may start. */
  nextStart(now: number): number {
    const free = Math.max(now, this.#heldUntil);
    const rate = this.#rate.at(now);
    if (rate === Number.POSITIVE_INFINITY) return free;
    const oldest = this.#starts.at(-Math.ceil(rate));
    return Math.max(free, this.#due, oldest === undefined ? free : oldest + WINDOW_MS);
  }

  /** Takes note that a request starts. */
  recordStart(now: number): void {
    this.#rate.recordStart(now);
    const rate = this.#rate.at(now);
    if (rate === Number.POSITIVE_INFINITY) return;
    this.#due = (now - this.#due <= CATCH_UP_MS ? this.#due : now) + gapMs(rate);
    this.#starts.push(now);
    const old = this.#starts.findIndex((start) => start > now - WINDOW_MS);
    if (old > 64) this.#starts = this.#starts.slice(old);
  }

  /** Goes on after somebody else who kept the same pace and whose last start was at `lastStart`. */
  resume(lastStart: number): void {
    const rate = this.#rate.at(lastStart);
    if (rate === Number.POSITIVE_INFINITY) return;
    const gap = gapMs(rate);
    this.#due = lastStart + gap;
    this.#starts = Array.from({ length: Math.ceil(rate) }, (_, back) => lastStart - back * gap).reverse();
  }

  /** The source answered 429 to a request that started at `startedAt`, and asked for a pause of `holdMs`, or for none. */
  slow(startedAt: number, now: number, holdMs: number | undefined): void {
    const ownMs = this.#rate.slow(startedAt, now);
    this.#heldUntil = Math.max(this.#heldUntil, now + (holdMs ?? ownMs));
  }
}
