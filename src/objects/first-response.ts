/** Time to retry requests to a server that has never responded, in milliseconds. */
const PATIENCE_MS = 5000;

/** Tracks whether a server has ever responded. */
export class FirstResponse {
  readonly #now: () => number;
  #startedAt: number | undefined;
  #hasResponded = false;

  /** @param now a monotonic clock, in milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Call when a request is sent. */
  begin(): void {
    this.#startedAt ??= this.#now();
  }

  /** Call for any response. */
  received(): void {
    this.#hasResponded = true;
  }

  get isOverdue(): boolean {
    return !this.#hasResponded && this.#startedAt !== undefined && this.#now() - this.#startedAt >= PATIENCE_MS;
  }
}
