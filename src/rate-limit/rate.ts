/** Share of the limit that is used; leaves 15 ms per second for differences between clocks. */
export const FILL = 0.985;
/** Share of the cap that is recovered per second without a 429. */
export const RECOVERY_PER_SECOND = 0.02;
export const SLOWEST_RPS = 0.1;
/** Without a cap there is no rate to halve, so a 429 only pauses for a moment. */
const UNCAPPED_HOLD_MS = 100;

/** A policy for the number of requests per second. */
export interface Rate {
  /** Requests per second at this time, above 0; Infinity without a limit. */
  at(now: number): number;
  /** Records the start of a request. */
  recordStart(now: number): void;
  /**
   * The source answered 429 to a request that started at `startedAt`.
   *
   * @returns the pause in milliseconds, if the source did not give one
   */
  slow(startedAt: number, now: number): number;
}

/** A given rate. A 429 halves it, once for all requests that were in flight together. */
export class FixedRate implements Rate {
  #cap: number;
  #rate: number;
  #slowedAt = Number.NEGATIVE_INFINITY;

  /** @param rps Requests per second, above 0; undefined for no limit. */
  constructor(rps: number | undefined) {
    this.#cap = rps ?? Number.POSITIVE_INFINITY;
    this.#rate = this.#cap;
  }

  /** The cap, or less for a while after a 429. */
  at(now: number): number {
    if (this.#rate === this.#cap) return this.#cap;
    return Math.min(this.#cap, this.#rate + (this.#cap * RECOVERY_PER_SECOND * (now - this.#slowedAt)) / 1000);
  }

  /** Changes the cap. A reduction by a 429 remains in proportion. */
  retune(rps: number | undefined): void {
    const cap = rps ?? Number.POSITIVE_INFINITY;
    if (cap === this.#cap) return;
    const isCapped = Number.isFinite(cap) && Number.isFinite(this.#cap);
    this.#rate = isCapped ? (this.#rate / this.#cap) * cap : cap;
    this.#cap = cap;
  }

  recordStart(): void {}

  slow(startedAt: number, now: number): number {
    if (this.#cap === Number.POSITIVE_INFINITY) return UNCAPPED_HOLD_MS;
    if (startedAt >= this.#slowedAt) {
      this.#rate = Math.max(Math.min(SLOWEST_RPS, this.#cap), this.at(now) / 2);
      this.#slowedAt = now;
    }
    return gapMs(this.#rate);
  }
}

/** Time between two starts at a rate, in milliseconds. */
export function gapMs(rps: number): number {
  return 1000 / (rps * FILL);
}
