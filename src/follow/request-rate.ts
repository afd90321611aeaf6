/** Time over which requests are counted. */
const WINDOW_MS = 60_000;

/** Requests per second over the last minute. */
export class RequestRate {
  /** Counts since the start, oldest first; all but the first are younger than the window. */
  #samples: readonly (readonly [at: number, requests: number])[] = [];

  /** Notes how many requests were made so far. @param now on the monotonic clock */
  note(now: number, requests: number): void {
    const last = this.#samples.findLastIndex(([at]) => now - at >= WINDOW_MS);
    this.#samples = [...this.#samples.slice(Math.max(0, last)), [now, requests]];
  }

  /** Undefined before two counts. */
  get perSecond(): number | undefined {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    if (first === undefined || last === undefined || last[0] <= first[0]) return undefined;
    return ((last[1] - first[1]) * 1000) / (last[0] - first[0]);
  }
}
