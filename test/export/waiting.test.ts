import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type RunEvent, run } from '../../src/export/run.ts';
import { startSandbox } from '../../src/sandbox/index.ts';
import { hurriedEffects } from '../rate-limit/clock.ts';
import { freshFolder } from '../scratch.ts';

/** The head stands still. */
const HEAD = 400;

const sandbox = await startSandbox({ blocks: HEAD });

afterAll(() => sandbox.close());

test('blocks above a head that stands are waited for once, and told in one line', async () => {
  const events: RunEvent[] = [];
  const report = await run({
    ...{ pipelines: ['transactions'], network: sandbox.url, range: '395:410', warehouse: join(freshFolder(), 'w') },
    ...{ waitMs: 2000, effects: hurriedEffects(), onEvent: (event: RunEvent) => events.push(event) },
  });
  expect(report.complete).toBe(false);
  expect(events.filter(({ event }) => event === 'problem')).toEqual([
    {
      ...{ event: 'problem', pipeline: 'blocks', from: 401, to: 410, code: 'not-indexed' },
      message: 'source blocks 410: still not indexed after 2 s (blocks not found)',
    },
  ]);
  expect(report.rows['blocks']).toBeGreaterThan(6);
  // Polls of one block.
  expect(report.retries).toBeLessThan(10);
});

test('a run that shall end while it waits ends', async () => {
  const stop = new AbortController();
  const running = run({
    ...{ pipelines: ['blocks'], network: sandbox.url, range: '380:410', warehouse: join(freshFolder(), 'w') },
    ...{ waitMs: 60_000, stop: stop.signal },
  });
  setTimeout(() => stop.abort(), 1000);
  expect(await running).toMatchObject({ complete: false });
});
