import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { resolveNetwork } from '../../src/http/network.ts';
import { budgetStatus } from '../../src/rate-limit/budget-status.ts';
import { hasRedis, type RedisServer, startRedis } from '../redis-server.ts';
import { freshFolder } from '../scratch.ts';
import { type Limited, measure, startClient, startLimited } from './processes.ts';

/** `npm run soak:rate`: how much of a limit is used, and how often it is exceeded, by real processes against real limits. */

const LIMITS = [10, 25, 100] as const;
const MINUTE_MS = 60_000;

interface Case {
  readonly limit: number;
  readonly mode: 'told' | 'auto';
  readonly processes: number;
  /** Redis server that the processes share, each with a state folder of its own, as on as many machines. */
  readonly redis?: RedisServer;
}

interface Row extends Case {
  /** Of the limit, over a minute. */
  readonly used: number;
  /** 429 from the first request to the end of that minute. */
  readonly refusals: number;
  readonly refused: number;
  /** Of the limit, by those that are left, from five seconds after one was killed. */
  readonly usedAfterKill: number | undefined;
  readonly refusalsAfterKill: number | undefined;
}

const rows: Row[] = [];

afterAll(() => {
  const percent = (share: number | undefined): string => (share === undefined ? '-' : `${(100 * share).toFixed(1)} %`);
  const lines = rows.map(
    ({ limit, mode, processes, redis, used, refusals, refused, usedAfterKill, refusalsAfterKill }) =>
      [
        limit,
        mode,
        redis === undefined ? processes : `${processes}, through Redis`,
        percent(used),
        `${refusals} (${percent(refused)})`,
        percent(usedAfterKill),
        refusalsAfterKill ?? '-',
      ].join(' | '),
  );
  const head =
    'limit | --rps | processes | used over a minute | 429 since the start | used after a kill | 429 after it';
  process.stdout.write(`\n${[head, '--- | --- | --- | --- | --- | --- | ---', ...lines].join('\n')}\n`);
});

async function play(one: Case): Promise<Row> {
  const { limit, mode, processes } = one;
  const server = await startLimited(limit);
  try {
    return await playOn(server, one);
  } catch (cause) {
    throw new Error(`limit ${limit}, ${mode}, ${processes} processes`, { cause });
  } finally {
    await server.end();
  }
}

async function playOn(server: Limited, one: Case): Promise<Row> {
  const { limit, mode, processes } = one;
  const state = freshFolder();
  const rps = mode === 'auto' ? 'auto' : limit;
  const startOne = () =>
    one.redis === undefined
      ? startClient({ url: server.url, rps, state })
      : startClient({ url: server.url, rps, state: freshFolder(), env: { TONLAKE_BUDGET: one.redis.url } });
  const [first, ...others] = [startOne(), ...Array.from({ length: processes - 1 }, startOne)];
  const network = resolveNetwork(server.url);
  const env = { TONLAKE_STATE_DIR: state, TONLAKE_BUDGET: one.redis?.url };
  while ((await budgetStatus({ network, env })).holders.length < processes) await delay(100);
  // What a bucket holds at the start would count for more than the limit; `auto` has half a minute to find it.
  await delay(mode === 'auto' ? 30_000 : 3000);
  const minute = await measure(server, limit, MINUTE_MS);
  const { accepted, refused: refusals } = await server.counts();
  const row = { ...one, used: minute.used, refusals, refused: refusals / (accepted + refusals) };
  if (others.length === 0) {
    first.kill('SIGKILL');
    return { ...row, usedAfterKill: undefined, refusalsAfterKill: undefined };
  }
  first.kill('SIGKILL');
  await delay(5000);
  const { used } = await measure(server, limit, 15_000);
  const refusalsAfterKill = (await server.counts()).refused - refusals;
  for (const client of others) client.kill('SIGKILL');
  return { ...row, usedAfterKill: used, refusalsAfterKill };
}

describe.each([1, 2, 4])('%i at once', (processes) => {
  test('told the limit: at least 97 % of it is used over a minute, and no 429', async () => {
    const played = await Promise.all(LIMITS.map((limit) => play({ limit, mode: 'told', processes })));
    rows.push(...played);
    for (const { limit, used, refusals, usedAfterKill, refusalsAfterKill } of played) {
      expect.soft(used, `used of ${limit}`).toBeGreaterThanOrEqual(0.97);
      expect.soft(refusals, `429 at ${limit}`).toBe(0);
      expect.soft(usedAfterKill ?? 1, `used of ${limit} after a kill`).toBeGreaterThanOrEqual(0.95);
      expect.soft(refusalsAfterKill ?? 0, `429 at ${limit} after a kill`).toBe(0);
    }
  });

  test('auto: at least 90 % of the limit is used after half a minute, and at most 1 % of answers are 429', async () => {
    const played = await Promise.all(LIMITS.map((limit) => play({ limit, mode: 'auto', processes })));
    rows.push(...played);
    for (const { limit, used, refused, usedAfterKill } of played) {
      expect.soft(used, `used of ${limit}`).toBeGreaterThanOrEqual(0.9);
      expect.soft(refused, `429 at ${limit}`).toBeLessThanOrEqual(0.01);
      expect.soft(usedAfterKill ?? 1, `used of ${limit} after a kill`).toBeGreaterThanOrEqual(0.9);
    }
  });
});

describe.skipIf(!hasRedis)('four machines through Redis, each with a state folder of its own', () => {
  test.each(['told', 'auto'] as const)('%s: as one machine; what a killed one had goes to the others', async (mode) => {
    const played = await Promise.all(
      LIMITS.map(async (limit) => play({ limit, mode, processes: 4, redis: await startRedis() })),
    );
    rows.push(...played);
    const least =
      mode === 'told' ? { used: 0.97, afterKill: 0.95, refused: 0 } : { used: 0.9, afterKill: 0.9, refused: 0.01 };
    for (const { limit, used, refused, usedAfterKill } of played) {
      expect.soft(used, `used of ${limit}`).toBeGreaterThanOrEqual(least.used);
      expect.soft(refused, `429 at ${limit}`).toBeLessThanOrEqual(least.refused);
      expect.soft(usedAfterKill ?? 0, `used of ${limit} after a kill`).toBeGreaterThanOrEqual(least.afterKill);
    }
  });
});
