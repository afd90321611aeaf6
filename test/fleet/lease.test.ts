import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { CoordinatorLease } from '../../src/fleet/coordinator-lease.ts';
import { openWorkQueue, type WorkQueue } from '../../src/fleet/work-queue.ts';
import { parseRedisAddress } from '../../src/redis/redis-address.ts';
import { hasRedis, type RedisServer, startRedis } from '../redis-server.ts';

const KEY = 'tonlake:work:q:coordinator';
const LONG_MS = 600_000;

describe.skipIf(!hasRedis)('the lease of the run that asks workers (skipped without Redis)', () => {
  let redis: RedisServer;
  let queue: WorkQueue;

  beforeAll(async () => {
    redis = await startRedis();
    queue = await openWorkQueue('q', parseRedisAddress(redis.url, '--queue', {}), {});
  });

  afterAll(async () => {
    await queue.close();
  });

  const take = (more: { readonly renewMs?: number; readonly stop?: AbortSignal } = {}) =>
    CoordinatorLease.take(queue, 'q', { effects: realEffects, ...more });
  /** As of a run on another machine. */
  const elsewhere = { pid: 1, startedAt: '1', host: 'other', token: 't', since: '2026-05-01T00:00:00.000Z' };

  test('is refused while another run of this machine has it, and free after it', async () => {
    const lease = await take();
    await expect(take()).rejects.toMatchObject({ code: 'queue-busy', hint: expect.stringContaining('--slice') });
    await lease?.release();
    await (await take())?.release();
    expect(await redis.client.exists(KEY)).toBe(0);
  });

  test('of a process of this machine that is gone is taken over at once', async () => {
    const lease = await take();
    const holder = JSON.parse((await redis.client.get(KEY)) ?? '');
    await lease?.release();
    await redis.client.set(KEY, JSON.stringify({ ...holder, startedAt: 'earlier' }), 'PX', LONG_MS);
    await (await take())?.release();
  });

  test('of a run on another machine is refused as soon as that renews it, and taken over when it has run out', async () => {
    const holder = JSON.stringify(elsewhere);
    await redis.client.set(KEY, holder, 'PX', LONG_MS);
    const sleep = async (): Promise<void> => {
      await redis.client.pexpire(KEY, LONG_MS + 60_000);
    };
    await expect(CoordinatorLease.take(queue, 'q', { effects: { ...realEffects, sleep } })).rejects.toThrow(
      'asked by process 1 on other since 2026-05-01T00:00:00.000Z',
    );
    const expire = async (): Promise<void> => {
      await redis.client.del(KEY);
    };
    const lease = await CoordinatorLease.take(queue, 'q', { effects: { ...realEffects, sleep: expire } });
    await lease?.release();
  });

  test('is told again to a server that came back empty; a run that another one replaced ends', async () => {
    const lease = await take({ renewMs: 20 });
    await redis.client.flushall();
    while ((await redis.client.exists(KEY)) === 0) await realEffects.sleep(5);
    lease?.require();
    await redis.client.set(KEY, JSON.stringify(elsewhere));
    const failure = async (): Promise<unknown> => {
      for (;;) {
        try {
          lease?.require();
        } catch (error) {
          return error;
        }
        await realEffects.sleep(5);
      }
    };
    expect(await failure()).toMatchObject({ code: 'queue-busy' });
    await lease?.release();
    // Only its own is removed.
    expect(await redis.client.get(KEY)).toBe(JSON.stringify(elsewhere));
    await redis.client.del(KEY);
  });

  test('is not waited for by a run that is stopped', async () => {
    await redis.client.set(KEY, JSON.stringify(elsewhere), 'PX', LONG_MS);
    expect(await take({ stop: AbortSignal.abort() })).toBeUndefined();
    await redis.client.del(KEY);
  });
});
