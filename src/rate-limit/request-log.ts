export const KEPT_STARTS = 20_000;

/** Start times of the latest 20,000 requests that were not answered with 429. */
export class RequestStartLog {
  #starts: number[] = [];

  record(now: number): void {
    this.#starts.push(now);
    if (this.#starts.length > 2 * KEPT_STARTS) this.#starts = this.#starts.slice(-KEPT_STARTS);
  }

  /** Removes a request that was answered with 429. */
  strike(startedAt: number): void {
    const at = this.#starts.lastIndexOf(startedAt);
    if (at >= 0) this.#starts.splice(at, 1);
  }

  clear(): void {
    this.#starts = [];
  }

  /** Number of requests after a time. */
  since(from: number): number {
    let index = this.#starts.length;
    while (index > 0 && (this.#starts[index - 1] ?? from) > from) index--;
    return this.#starts.length - index;
  }

  /** Time from the oldest request to `until`, in milliseconds. */
  reach(until: number): number {
    return until - (this.#starts[0] ?? until);
  }

  /**
   * A lower bound of the source's limit: a token bucket of one second allows at most `limit * (T + 1)` requests in T seconds, so the
   * limit is at least the maximum of `count / (T + 1)` over all T that end at `until`. If the bucket is empty, it is the limit.
   */
  bound(until: number): number {
    let most = 0;
    let count = 0;
    for (let index = this.#starts.length - 1; index >= 0; index--) {
      const start = this.#starts[index] ?? until;
      if (start > until) continue;
      count++;
      most = Math.max(most, count / ((until - start) / 1000 + 1));
    }
    return most;
  }
}
