import { FixedRate, gapMs, type Rate } from './rate.ts';

/** At most `ceil(rps)` requests start within it; longer than a second because requests can take different times to arrive. */
export const WINDOW_MS = 1007;
/** A start that is late by at most this does not delay the following ones. */
export const CATCH_UP_MS = 250;

/**
 * Computes when requests may start; the caller passes the time.
 *
 * Every half-open window of one second has at most `ceil(rps)` starts. With enough demand, at least 97 % of `rps` start, as long as
 * starts are at most a few milliseconds late.
 */
export class Pace {
  readonly #rate: Rate;
  #heldUntil = Number.NEGATIVE_INFINITY;
  #due = Number.NEGATIVE_INFINITY;
  #starts: number[] = [];
  /** Starts of a previous leader, as if they were evenly spread before its last one. */
  #earlier: { readonly count: number; readonly last: number; readonly gap: number } | undefined;

  /** @param rate Requests per second, above 0; undefined for no limit; or a policy. */
  constructor(rate: number | undefined | Rate) {
    this.#rate = typeof rate === 'object' ? rate : new FixedRate(rate);
  }

  /** Requests per second at this time. */
  rateAt(now: number): number {
    return this.#rate.at(now);
  }

  /** End of the pause after a 429. */
  get heldUntil(): number {
    return this.#heldUntil;
  }

  /** The earliest time from `now` on at which one request may start. */
  nextStart(now: number): number {
    const free = Math.max(now, this.#heldUntil);
    const rate = this.#rate.at(now);
    if (rate === Number.POSITIVE_INFINITY) return free;
    const oldest = this.#startBefore(Math.ceil(rate));
    return Math.max(free, this.#due, oldest === undefined ? free : oldest + WINDOW_MS);
  }

  /** Records the start of a request. */
  recordStart(now: number): void {
    this.#rate.recordStart(now);
    const rate = this.#rate.at(now);
    if (rate === Number.POSITIVE_INFINITY) return;
    this.#due = (now - this.#due <= CATCH_UP_MS ? this.#due : now) + gapMs(rate);
    this.#starts.push(now);
    const old = this.#starts.findIndex((start) => start > now - WINDOW_MS);
    if (old > 64) {
      this.#starts = this.#starts.slice(old);
      this.#earlier = undefined;
    }
  }

  /** Continues for a previous leader whose last request started at `lastStart`. */
  resume(lastStart: number): void {
    const rate = this.#rate.at(lastStart);
    if (rate === Number.POSITIVE_INFINITY) return;
    const gap = gapMs(rate);
    this.#due = lastStart + gap;
    this.#starts = [];
    this.#earlier = { count: Math.ceil(rate), last: lastStart, gap };
  }

  /** Time of the start that was so many before the next one; undefined if there was none. */
  #startBefore(next: number): number | undefined {
    const back = next - this.#starts.length;
    if (back <= 0) return this.#starts.at(-next);
    const { count = 0, last = 0, gap = 0 } = this.#earlier ?? {};
    return back <= count ? last - (back - 1) * gap : undefined;
  }

  /** The source answered 429 to a request that started at `startedAt`, with a pause of `holdMs` if given. */
  slow(startedAt: number, now: number, holdMs: number | undefined): void {
    const ownMs = this.#rate.slow(startedAt, now);
    this.#heldUntil = Math.max(this.#heldUntil, now + (holdMs ?? ownMs));
  }
}
