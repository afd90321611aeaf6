import type { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import { stateOfLedger } from './commit-cache.ts';
import { stateOfRuns } from './read-runs.ts';
import type { SharedReader } from './shared-reader.ts';
import type { UiEnvironment } from './ui-options.ts';

/** Interval of polls of the warehouse. */
const POLL_MS = 1000;

interface WatchedState {
  readonly commit: string;
  readonly runs: string;
}

/** Polls a warehouse while a page is open: once for all open pages. */
class Watch {
  readonly #shared: SharedReader;
  readonly #warehouse: string;
  readonly #waiting = new Set<() => void>();
  #state: WatchedState = { commit: '', runs: '' };
  #timer: NodeJS.Timeout | undefined;
  #polling: Promise<void> | undefined;
  #pages = 0;

  constructor(shared: SharedReader, warehouse: string) {
    this.#shared = shared;
    this.#warehouse = warehouse;
  }

  /** Polls from the first open page to the last. @returns a function that closes the page */
  open(): () => void {
    if (this.#pages++ === 0) this.#timer = setInterval(() => void this.#poll(), POLL_MS);
    return () => {
      if (--this.#pages === 0) clearInterval(this.#timer);
    };
  }

  /** Resolves with a state other than `seen`, or with the same one after a poll interval. */
  async next(seen: WatchedState): Promise<WatchedState> {
    if (this.#state.commit === '') await this.#poll();
    if (this.#state !== seen) return this.#state;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        clearTimeout(limit);
        this.#waiting.delete(wake);
        resolve();
      };
      const limit = setTimeout(wake, POLL_MS);
      this.#waiting.add(wake);
    });
    return this.#state;
  }

  /** At most one poll runs at a time. */
  #poll(): Promise<void> {
    this.#polling ??= this.#read().finally(() => {
      this.#polling = undefined;
    });
    return this.#polling;
  }

  async #read(): Promise<void> {
    const { commit, runs } = this.#state;
    const found = {
      // A DuckDB warehouse cannot be read while it is written; the next poll tries again.
      commit: await this.#shared.use(({ reader }) => stateOfLedger(reader)).catch(() => commit),
      runs: await stateOfRuns(this.#warehouse).catch(() => runs),
    };
    if (found.commit === commit && found.runs === runs) return;
    this.#state = found;
    for (const wake of [...this.#waiting]) wake();
  }
}

/** Sends an event after each commit, and after each change of a job's runs. */
export function addEventRoute(app: Hono<UiEnvironment>, shared: SharedReader, warehouse: string): void {
  const watch = new Watch(shared, warehouse);
  app.get('/api/events', (c) =>
    streamSSE(c, async (stream) => {
      const close = watch.open();
      let seen: WatchedState = { commit: '', runs: '' };
      try {
        while (!stream.aborted && !stream.closed) {
          const { commit, runs } = seen;
          seen = await watch.next(seen);
          if (seen.commit !== commit) await stream.writeSSE({ event: 'commit', data: seen.commit });
          if (seen.runs !== runs) await stream.writeSSE({ event: 'runs', data: seen.runs.replaceAll('\n', '; ') });
        }
      } finally {
        close();
      }
    }),
  );
}
