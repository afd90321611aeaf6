import type { SandboxRequest } from '../../src/sandbox/index.ts';

/** A request and the status of its response. */
interface RequestEntry {
  readonly method: string;
  /** Path below the base path, without query. */
  readonly path: string;
  readonly query: string;
  /** 0 if the connection was closed without a response. */
  readonly status: number;
}

interface RequestStats {
  readonly requests: number;
  /** Counts by path, then by status. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Most requests in any second, including refused ones. */
  readonly maxPerSecond: number;
  /** Most concurrent requests. */
  readonly maxConcurrent: number;
}

/** The requests since the start or the last reset. */
export class RequestLog {
  /** Path and query of each, in the order of their arrival: `/blocks?mc_seqno=5`. */
  readonly targets: string[] = [];
  #entries: RequestEntry[] = [];
  #paths = new Map<string, Map<string, number>>();
  #times: number[] = [];
  #oldest = 0;
  #requests = 0;
  #maxPerSecond = 0;
  #concurrent = 0;
  #maxConcurrent = 0;

  begin({ target }: SandboxRequest, nowMs: number): void {
    this.targets.push(target);
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

  end({ method, path: name, target }: SandboxRequest, status: number): void {
    this.#concurrent -= 1;
    const entry = { method, path: name.slice(1), query: target.slice(name.length), status };
    this.#entries.push(entry);
    const statuses = this.#paths.get(entry.path) ?? new Map<string, number>();
    const key = entry.status === 0 ? 'dropped' : String(entry.status);
    statuses.set(key, (statuses.get(key) ?? 0) + 1);
    this.#paths.set(entry.path, statuses);
  }

  /** The first requests, in the order of their responses. */
  entries(): readonly RequestEntry[] {
    return this.#entries;
  }

  stats(): RequestStats {
    return {
      requests: this.#requests,
      paths: Object.fromEntries([...this.#paths].map(([path, statuses]) => [path, Object.fromEntries(statuses)])),
      maxPerSecond: this.#maxPerSecond,
      maxConcurrent: this.#maxConcurrent,
    };
  }

  reset(): void {
    this.targets.length = 0;
    this.#entries = [];
    this.#paths = new Map();
    this.#times = [];
    this.#oldest = 0;
    this.#requests = 0;
    this.#maxPerSecond = 0;
    this.#maxConcurrent = this.#concurrent;
  }
}
