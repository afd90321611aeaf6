/** A request and the status of its response. */
export interface RequestEntry {
  readonly method: string;
  /** Path below the base path, without query. */
  readonly path: string;
  readonly query: string;
  /** 0 if the connection was closed without a response. */
  readonly status: number;
}

export interface SandboxStats {
  readonly requests: number;
  /** Counts by path, then by status. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Most requests in any second, including refused ones. */
  readonly maxPerSecond: number;
  /** Most concurrent requests. */
  readonly maxConcurrent: number;
}

/** Maximum number of entries; further requests are only counted. */
const KEPT_ENTRIES = 100_000;

/** The requests since the start or the last reset. */
export class RequestLog {
  #entries: RequestEntry[] = [];
  #paths = new Map<string, Map<string, number>>();
  #times: number[] = [];
  #oldest = 0;
  #requests = 0;
  #maxPerSecond = 0;
  #concurrent = 0;
  #maxConcurrent = 0;

  begin(nowMs: number): void {
    this.#requests += 1;
    this.#concurrent += 1;
    this.#maxConcurrent = Math.max(this.#maxConcurrent, this.#concurrent);
    this.#times.push(nowMs);
    while ((this.#times[this.#oldest] ?? nowMs) <= nowMs - 1000) this.#oldest += 1;
    this.#maxPerSecond = Math.max(this.#maxPerSecond, this.#times.length - this.#oldest);
    if (this.#oldest > 4096) {
      this.#times = this.#times.slice(this.#oldest);
      this.#oldest = 0;
    }
  }

  end(entry: RequestEntry): void {
    this.#concurrent -= 1;
    if (this.#entries.length < KEPT_ENTRIES) this.#entries.push(entry);
    const statuses = this.#paths.get(entry.path) ?? new Map<string, number>();
    const key = entry.status === 0 ? 'dropped' : String(entry.status);
    statuses.set(key, (statuses.get(key) ?? 0) + 1);
    this.#paths.set(entry.path, statuses);
  }

  /** The first requests, in the order of their responses. */
  entries(): readonly RequestEntry[] {
    return this.#entries;
  }

  stats(): SandboxStats {
    return {
      requests: this.#requests,
      paths: Object.fromEntries([...this.#paths].map(([path, statuses]) => [path, Object.fromEntries(statuses)])),
      maxPerSecond: this.#maxPerSecond,
      maxConcurrent: this.#maxConcurrent,
    };
  }

  reset(): void {
    this.#entries = [];
    this.#paths = new Map();
    this.#times = [];
    this.#oldest = 0;
    this.#requests = 0;
    this.#maxPerSecond = 0;
    this.#maxConcurrent = this.#concurrent;
  }
}
