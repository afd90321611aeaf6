import type { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import type { OwnReader } from './own-reader.ts';
import { stateOfRuns } from './read-runs.ts';
import { stateOfLedger } from './status-cache.ts';
import type { UiEnvironment } from './ui-options.ts';

/** Pause between two looks at the warehouse, in milliseconds. */
const LOOK_MS = 1000;

/** Tells of each commit, and of each change of a job's runs. */
export function addEventRoute(app: Hono<UiEnvironment>, own: OwnReader, warehouse: string): void {
  app.get('/api/events', (c) =>
    streamSSE(c, async (stream) => {
      let known = { commit: '', runs: '' };
      while (!stream.aborted && !stream.closed) {
        const [commit, runs] = await Promise.all([
          // A DuckDB warehouse that is being written is looked at again later.
          own.use(({ reader }) => stateOfLedger(reader)).catch(() => known.commit),
          stateOfRuns(warehouse).catch(() => known.runs),
        ]);
        if (commit !== known.commit) await stream.writeSSE({ event: 'commit', data: commit });
        if (runs !== known.runs) await stream.writeSSE({ event: 'runs', data: runs.replaceAll('\n', '; ') });
        known = { commit, runs };
        await stream.sleep(LOOK_MS);
      }
    }),
  );
}
