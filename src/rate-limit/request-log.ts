const KEPT_STARTS = 20_000;

/** When requests started that were not refused; the newest 20,000. */
export class RequestStartLog {
  #starts: number[] = [];

  record(now: number): void {
    this.#starts.push(now);
    if (this.#starts.length > 2 * KEPT_STARTS) this.#starts = this.#starts.slice(-KEPT_STARTS);
  }

  /** Takes out the request that started then: it was refused. */
  strike(startedAt: number): void {
    const at = this.#starts.lastIndexOf(startedAt);
    if (at >= 0) this.#starts.splice(at, 1);
  }

  clear(): void {
    this.#starts = [];
  }

  /** Starts after a time. */
  since(from: number): number {
    let index = this.#starts.length;
    while (index > 0 && (this.#starts[index - 1] ?? from) > from) index--;
    return this.#starts.length - index;
  }

  /** How long before `until` the oldest start was, in milliseconds. */
  reach(until: number): number {
    return until - (this.#starts[0] ?? until);
  }

  /**
   * A rate that the source has proved to allow: a bucket that holds one second lets at most `limit * (T + 1)` requests pass
   * in T seconds, so the limit is at least the most of `count / (T + 1)` over all T that end at `until`. When the bucket has
   * just run empty, that is the limit itself.
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
