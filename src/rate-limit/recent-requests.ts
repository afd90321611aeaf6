const SECONDS = 60;
const SHARE_SECONDS = 10;

/** Counts the requests of the last minute. */
export class RecentRequests {
  readonly #counts = new Map<number, number>();

  add(now: number, requests = 1): void {
    const second = Math.floor(now / 1000);
    this.#counts.set(second, (this.#counts.get(second) ?? 0) + requests);
    for (const old of this.#counts.keys()) {
      if (old > second - SECONDS - 1) break;
      this.#counts.delete(old);
    }
  }

  /** Requests per second over the last 10 seconds, and requests of the last minute. */
  summary(now: number): { readonly share: number; readonly usedLastMinute: number } {
    return { share: this.#within(SHARE_SECONDS, now) / SHARE_SECONDS, usedLastMinute: this.#within(SECONDS, now) };
  }

  /** Requests within the full seconds before the current one. */
  #within(seconds: number, now: number): number {
    const current = Math.floor(now / 1000);
    let sum = 0;
    for (const [second, count] of this.#counts) if (second < current && second >= current - seconds) sum += count;
    return sum;
  }
}
