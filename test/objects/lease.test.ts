import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { StoreError } from '../../src/core/errors.ts';
import { readMark } from '../../src/files/process-liveness.ts';
import { diskObjects } from '../../src/objects/disk-objects.ts';
import { takeLease } from '../../src/objects/lease.ts';
import { freshFolder } from '../scratch.ts';

/** A store that loses the answer to the next renewal if it is told so, after or before it has put it. */
function flakyStore() {
  const objects = diskObjects(join(freshFolder(), 'w'));
  const flaky = { fault: undefined as 'put' | 'not put' | undefined, tries: 0 };
  const store = {
    ...objects,
    putInPlaceOf: async (...given: Parameters<typeof objects.putInPlaceOf>): Promise<boolean> => {
      const { fault } = flaky;
      flaky.fault = undefined;
      const isPut = fault !== 'not put' && (await objects.putInPlaceOf(...given));
      flaky.tries++;
      if (fault !== undefined) throw new StoreError('store: away', { code: 'store-busy', retryable: true });
      return isPut;
    },
  };
  return { flaky, store };
}

test.each(['put', 'not put'] as const)(
  'a lease whose renewal was %s without an answer is renewed by the next one',
  async (fault) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const { flaky, store } = flakyStore();
    const lease = await takeLease({
      objects: store,
      key: 'run.lease',
      subject: 'w',
      command: 'test',
      effects: realEffects,
    });
    const renew = async (tries: number): Promise<void> => {
      const before = flaky.tries;
      vi.advanceTimersByTime(15_000);
      await vi.waitUntil(() => flaky.tries >= before + tries || lease.lost.aborted);
    };
    await renew(1);
    flaky.fault = fault;
    await renew(1);
    await renew(fault === 'put' ? 2 : 1);
    expect(lease.lost.aborted).toBe(false);
    const { renewals } = JSON.parse(String(Buffer.from((await store.get('run.lease')) ?? [])));
    expect(renewals).toBe(fault === 'put' ? 3 : 2);
    flaky.fault = fault;
    await renew(1);
    await lease.release();
    expect(await store.get('run.lease')).toBeUndefined();
  },
);

/** Takes a lease that another process has just renewed. */
async function takeFrom(holder: object): Promise<unknown> {
  const objects = diskObjects(freshFolder());
  const renewed = { id: 'other', command: 'c', renewals: 9, since: '2025-01-01T00:00:00.000Z', ...holder };
  await objects.put('x.lease', Buffer.from(JSON.stringify(renewed)));
  const options = { objects, key: 'x.lease', subject: 'job nightly', command: 'c', effects: realEffects };
  const lease = await takeLease(options);
  return lease.release();
}

const another = { pid: 4711, startedAt: '1', host: hostname(), bootId: 'of another machine', pidNamespace: 'pid:[1]' };

test('a lease of another machine with the same name holds, however long ago it was taken', async () => {
  await expect(takeFrom(another)).rejects.toMatchObject({ code: 'busy' });
  await expect(takeFrom({ ...another, host: 'elsewhere' })).rejects.toMatchObject({ code: 'busy' });
});

test('a lease of a process of this machine is free once that has ended', async () => {
  await takeFrom({ ...(await readMark()), startedAt: 'never' });
  await expect(takeFrom(await readMark())).rejects.toMatchObject({ code: 'busy' });
});
