import type { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import { stateOfLedger } from './once-per-commit.ts';
import type { OwnReader } from './own-reader.ts';
import { stateOfRuns } from './read-runs.ts';
import type { UiEnvironment } from './ui-options.ts';

/** Pause between two looks at the warehouse, in milliseconds. */
const LOOK_MS = 1000;

interface Known {
  readonly commit: string;
  readonly runs: string;
}

/** Polls a warehouse while a page is open: once for all open pages. */
class Watch {
  readonly #own: OwnReader;
  readonly #warehouse: string;
  readonly #waiting = new Set<() => void>();
  #known: Known = { commit: '', runs: '' };
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #pages = 0;

  constructor(own: OwnReader, warehouse: string) {
    this.#own = own;
    this.#warehouse = warehouse;
  }

  /** A page is open until it calls what this returns. */
  open(): () => void {
    if (this.#pages++ === 0) this.#timer = setInterval(() => void this.#look(), LOOK_MS);
    return () => {
      if (--this.#pages === 0) clearInterval(this.#timer);
    };
  }

  /** What is known when it differs from `seen`, or after a while. */
  async next(seen: Known): Promise<Known> {
    if (this.#known.commit === '') await this.#look();
    if (this.#known !== seen) return this.#known;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        clearTimeout(limit);
        this.#waiting.delete(wake);
        resolve();
      };
      const limit = setTimeout(wake, LOOK_MS);
      this.#waiting.add(wake);
    });
    return this.#known;
  }

  /** One look at a time. */
  #look(): Promise<void> {
    this.#looking ??= this.#read().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #read(): Promise<void> {
    const { commit, runs } = this.#known;
    const found = {
      // A DuckDB warehouse that is being written is looked at again later.
      commit: await this.#own.use(({ reader }) => stateOfLedger(reader)).catch(() => commit),
      runs: await stateOfRuns(this.#warehouse).catch(() => runs),
    };
    if (found.commit === commit && found.runs === runs) return;
    this.#known = found;
    for (const wake of [...this.#waiting]) wake();
  }
}

/** Sends an event after each commit, and after each change of a job's runs. */
export function addEventRoute(app: Hono<UiEnvironment>, own: OwnReader, warehouse: string): void {
  const watch = new Watch(own, warehouse);
  app.get('/api/events', (c) =>
    streamSSE(c, async (stream) => {
      const close = watch.open();
      let seen: Known = { commit: '', runs: '' };
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
