import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { run } from '../../src/export/run.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';

/** A pause that only an end cuts short. */
const untilAborted = (_ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((_, reject) => {
    if (signal?.aborted) reject(signal.reason);
    signal?.addEventListener('abort', () => reject(signal.reason));
  });

test.each([
  ['fetches rows', []],
  ['compares the chain', ['1:5']],
])('a run that is stopped while it %s from a source that is down asks no more', async (_, before) => {
  const sandbox = await startTestSandbox({ blocks: 60 });
  onTestFinished(() => sandbox.close());
  const options = { network: sandbox.url, warehouse: join(freshFolder(), 'w'), pipelines: ['blocks'] };
  for (const range of before) await run({ ...options, range });
  sandbox.answer = ({ path, forward }) => (path === '/masterchainInfo' ? forward() : { status: 502, body: '' });
  const stop = new AbortController();
  let asked = 0;
  const running = run({
    ...{
      ...options,
      range: '1:40',
      concurrency: 1,
      effects: { ...realEffects, sleep: untilAborted },
      stop: stop.signal,
    },
    onRetry: () => {
      stop.abort();
      asked = sandbox.requests.targets.length;
    },
  });
  const report = await running.catch(String);
  expect(report).toEqual(
    before.length === 0 ? expect.objectContaining({ complete: false }) : expect.stringContaining('502'),
  );
  expect(sandbox.requests.targets).toHaveLength(asked);
});

test('an error that no attempt would have helped ends a run that is being stopped', async () => {
  const sandbox = await startTestSandbox({ blocks: 60 });
  onTestFinished(() => sandbox.close());
  const stop = new AbortController();
  sandbox.answer = ({ path, forward }) => {
    if (path !== '/blocks') return forward();
    stop.abort();
    return { status: 403, body: '' };
  };
  const warehouse = join(freshFolder(), 'w');
  const options = { network: sandbox.url, warehouse, pipelines: ['blocks'], range: '1:40', concurrency: 1 };
  await expect(run({ ...options, stop: stop.signal })).rejects.toThrow('403');
});
