/** How long requests are tried again while a server has not answered any, in milliseconds. */
const PATIENCE_MS = 5000;

/** Whether a server has answered yet, or is waited for in vain. */
export class FirstAnswer {
  readonly #now: () => number;
  #begunAt: number | undefined;
  #isThere = false;

  /** @param now a monotonic clock, in milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** A request is sent. */
  begin(): void {
    this.#begunAt ??= this.#now();
  }

  /** An answer has come, whatever it says. */
  come(): void {
    this.#isThere = true;
  }

  get isOverdue(): boolean {
    return !this.#isThere && this.#begunAt !== undefined && this.#now() - this.#begunAt >= PATIENCE_MS;
  }
}
