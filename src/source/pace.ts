/** Share of the limit that is used: leaves a limiter that counts by its own clock 15 ms of slack in every second. */
const FILL = 0.985;
/** Share of a second's requests that may start at once after a pause, so that late timers cost no throughput. */
const BURST = 0.1;
/** Share of the cap that comes back per second without a 429. */
const RECOVERY_PER_SECOND = 0.02;
const SLOWEST_RPS = 0.1;
/** Without a cap there is no rate to halve: a 429 only stops the starts for a moment. */
const UNCAPPED_HOLD_MS = 100;

/**
 * When requests may start, as arithmetic on a clock that the caller reads.
 *
 * Promise: every half-open window of one second holds at most `ceil(rps)` starts, whatever the demand; and while there is
 * demand, at least 97 % of `rps` start (FILL), as long as starts are at most some milliseconds late.
 */
export class Pace {
  readonly #cap: number;
  #rate: number;
  #slowedAt = Number.NEGATIVE_INFINITY;
  #heldUntil = Number.NEGATIVE_INFINITY;
  #due = Number.NEGATIVE_INFINITY;
  readonly #starts: number[] = [];

  /** @param rps Requests per second, above 0; undefined for no limit. */
  constructor(rps: number | undefined) {
    this.#cap = rps ?? Number.POSITIVE_INFINITY;
    this.#rate = this.#cap;
  }

  /** Requests per second at this time: the cap, or less for a while after a 429. */
  rateAt(now: number): number {
    if (this.#rate === this.#cap) return this.#cap;
    return Math.min(this.#cap, this.#rate + (this.#cap * RECOVERY_PER_SECOND * (now - this.#slowedAt)) / 1000);
  }

  /** The earliest time from `now` on at which one request may start. */
  nextStart(now: number): number {
    const free = Math.max(now, this.#heldUntil);
    const rate = this.rateAt(now);
    if (rate === Number.POSITIVE_INFINITY) return free;
    const gapMs = gap(rate);
    const burst = Math.max(1, rate * BURST);
    const inWindow = Math.ceil(rate);
    const oldest = this.#starts.at(-inWindow);
    const windowFree = oldest === undefined || this.#starts.length < inWindow ? free : oldest + inWindow * gapMs;
    return Math.max(free, this.#due - (burst - 1) * gapMs, windowFree);
  }

  /** Takes note that a request starts. */
  recordStart(now: number): void {
    if (this.#cap === Number.POSITIVE_INFINITY) return;
    this.#due = Math.max(now, this.#due) + gap(this.rateAt(now));
    this.#starts.push(now);
    if (this.#starts.length > Math.ceil(this.#cap)) this.#starts.shift();
  }

  /**
   * The source answered 429 to a request that started at `startedAt`: halves the rate, once for all requests that were
   * under way together, and holds every start for `holdMs` (default: one gap at the new rate).
   */
  slow(startedAt: number, now: number, holdMs: number | undefined): void {
    const capped = this.#cap !== Number.POSITIVE_INFINITY;
    if (capped && startedAt >= this.#slowedAt) {
      this.#rate = Math.max(Math.min(SLOWEST_RPS, this.#cap), this.rateAt(now) / 2);
      this.#slowedAt = now;
    }
    this.#heldUntil = Math.max(this.#heldUntil, now + (holdMs ?? (capped ? gap(this.#rate) : UNCAPPED_HOLD_MS)));
  }
}

function gap(rate: number): number {
  return 1000 / (rate * FILL);
}
