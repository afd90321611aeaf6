import { expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { StateCache } from '../../src/export/state-cache.ts';
import { openSession } from '../../src/http/session.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { closing } from '../scratch.ts';

const sandbox = await startTestSandbox({ blocks: 50 });
const { source } = closing(await openSession({ network: sandbox.url, effects: realEffects }));
const requests = () => sandbox.requests.targets.filter((each) => each.startsWith('/masterchainBlockShardState'));

test('a state is requested once by those who need it at the same time', async () => {
  const states = new StateCache();
  const before = requests().length;
  const all = await Promise.all([10, 10, 11].map((seqno) => states.fetch(source, seqno, 'test')));
  expect(all[0]).toEqual(all[1]);
  expect(all[0]).not.toEqual(all[2]);
  await states.fetch(source, 10, 'test');
  expect(requests().length - before).toBe(2);
  await states.fetch(source, 10, 'test', { isAgain: true });
  expect(requests().length - before).toBe(3);
});

test('a caller that is stopped stops nobody else who waits for the same state', async () => {
  const states = new StateCache();
  const first = new AbortController();
  const other = new StateCache().fetch(source, 20, 'test');
  const stopped = states.fetch(source, 20, 'test', { signal: first.signal });
  const waiting = states.fetch(source, 20, 'test');
  first.abort(new Error('stopped'));
  await expect(stopped).rejects.toThrow('stopped');
  expect(await waiting).toEqual(await other);
});
