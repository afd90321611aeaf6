import { execFileSync } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { formatError } from '../../src/core/errors.ts';
import { resolveNetwork } from '../../src/http/network.ts';
import { Secret } from '../../src/http/secret.ts';
import { budgetStatus, formatBudgetStatus } from '../../src/rate-limit/budget-status.ts';
import { openSourceLimiter, type RateLimiter, type SourceLimiterOptions } from '../../src/rate-limit/limiter.ts';
import { parseRedisAddress } from '../../src/redis/redis-address.ts';
import { hasRedis, type RedisServer, startRedis } from '../redis-server.ts';
import { freshFolder } from '../scratch.ts';

const BASE_URL = 'http://127.0.0.1:9/api/v3';
const KEY = new Secret('b7c1f00dd00fc1b7deadbeefcafe');

interface Given extends Partial<SourceLimiterOptions> {
  readonly url: string;
}

/** A limiter as another machine would open it. */
function open({ url, env = {}, ...options }: Given): RateLimiter {
  const limiter = openSourceLimiter({
    ...{ network: resolveNetwork(BASE_URL), baseUrl: BASE_URL, key: KEY, rps: 50 },
    ...{ priority: 'backfill', command: 'tonlake test', env },
    ...{ budgetAddress: parseRedisAddress(url, '--budget', env), effects: realEffects },
    onWarning: (message) => expect.fail(message),
    ...options,
  });
  onTestFinished(() => limiter.close());
  return limiter;
}

const never = (): AbortSignal => new AbortController().signal;

async function takeMany(limiter: RateLimiter, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => limiter.take(never())));
}

async function failure(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => expect.fail('expected a failure'),
    (error: unknown) => formatError(error),
  );
}

describe.skipIf(!hasRedis)('a limit that machines share through Redis', () => {
  let redis: RedisServer;
  let url: string;
  beforeAll(async () => {
    redis = await startRedis();
    url = redis.url;
  });

  test('holds for all that ask together', async () => {
    const from = performance.now();
    await Promise.all([1, 2, 3].map(() => takeMany(open({ url }), 20)));
    // 60 at 50 a second; the first need not wait.
    expect(performance.now() - from).toBeGreaterThan(1150);
  });

  test('a pause that one is told of holds the others', async () => {
    const [one, other] = [open({ url }), open({ url })];
    await other.take(never());
    const permit = await one.take(never());
    const from = performance.now();
    one.slow(permit, 600);
    await one.take(never());
    await other.take(never());
    expect(performance.now() - from).toBeGreaterThan(590);
  });

  test.each(['killed', 'hangs'] as const)('the end waits for no server that was %s', async (how) => {
    const own = await startRedis();
    const limiter = open({ url: own.url, onWarning: () => undefined });
    await limiter.take(never());
    if (how === 'killed') await own.kill();
    else own.hang();
    const from = performance.now();
    await limiter.close();
    expect(performance.now() - from).toBeLessThan(1500);
  });

  test('a request that ends while it waits takes no permit from another', async () => {
    const limiter = open({ url, rps: 2 });
    await limiter.take(never());
    const left = new AbortController();
    const gone = limiter.take(left.signal);
    const stays = limiter.take(never());
    left.abort(new Error('gone'));
    await expect(gone).rejects.toThrow('gone');
    await stays;
  });

  test('status shows the processes of all machines, and no key anywhere', async () => {
    const apiKey = new Secret('another-key-of-the-same-network');
    const limiter = open({ url, key: apiKey, rps: 40, command: `tonlake run ${apiKey.reveal()}` });
    await limiter.take(never());
    const env = { TONLAKE_BUDGET: url };
    const status = await budgetStatus({ network: resolveNetwork(BASE_URL), apiKey, env });
    expect(status).toMatchObject({
      limit: 40,
      cap: 40,
      holders: [{ pid: process.pid, rps: 40, priority: 'backfill' }],
    });
    expect(formatBudgetStatus(status)).toMatch(/process \d+ on \S+ {2}backfill/);
    const keys = await redis.client.keys('*');
    const values = await redis.client.mget(keys);
    expect(JSON.stringify([status, keys, values])).not.toContain(apiKey.reveal());
    await limiter.close();
    const after = await budgetStatus({ network: resolveNetwork(BASE_URL), apiKey, env });
    expect(after).toMatchObject({ limit: null, holders: [] });
  });

  test('a server that restarts empty is waited for, and the pause that it knew holds', async () => {
    const own = await startRedis();
    const warnings: string[] = [];
    const limiter = open({ url: own.url, onWarning: (message) => warnings.push(message) });
    const permit = await limiter.take(never());
    limiter.slow(permit, 1500);
    const from = performance.now();
    await limiter.take(AbortSignal.timeout(200)).catch(() => undefined);
    const waiting = takeMany(limiter, 10);
    await delay(100);
    await own.restart();
    await waiting;
    expect(performance.now() - from).toBeGreaterThan(1490);
    expect(warnings.length).toBeLessThanOrEqual(1);
  });
});

describe.skipIf(!hasRedis)('a Redis server that cannot be used is told in one line', () => {
  let locked: RedisServer;
  beforeAll(async () => {
    locked = await startRedis(['--requirepass', 'open-sesame']);
  });

  test('nobody answers', async () => {
    const error = await open({ url: 'redis://127.0.0.1:1' })
      .take(never())
      .catch((reason: unknown) => reason);
    // The loop that retries requests does not repeat it.
    expect(error).toMatchObject({ code: 'no-redis', retryable: false });
    expect(formatError(error)).toBe(
      'source: expected a Redis server at redis://127.0.0.1:1, got ECONNREFUSED; hint: check that it runs and that this machine reaches it',
    );
  });

  test('it hangs: within five seconds', async () => {
    const own = await startRedis();
    own.hang();
    const from = performance.now();
    expect(await failure(open({ url: own.url }).take(never()))).toMatch(
      /^source: expected a Redis server at redis:.*, got no answer; hint: check that it runs/,
    );
    expect(performance.now() - from).toBeLessThan(5000);
  });

  test('its limit is of another version', async () => {
    const own = await startRedis();
    const limiter = open({ url: own.url });
    await limiter.take(never());
    const [key = ''] = await own.client.keys('*');
    await own.client.set(key, '{"version":2}');
    expect(await failure(takeMany(limiter, 30))).toMatch(
      /^source: expected a rate limit of version 1 in tonlake:budget:\w+ at redis:\S+, got version 2; hint: end the processes/,
    );
  });

  test('without a password, with a wrong one, and with the right one', async () => {
    const { url } = locked;
    expect(await failure(open({ url }).take(never()))).toMatch(
      /got a demand for a password; hint: check TONLAKE_REDIS_/,
    );
    const wrong = await failure(open({ url, env: { TONLAKE_REDIS_PASSWORD: 'sesame-oil' } }).take(never()));
    expect(wrong).toBe(
      `source: expected a Redis server at ${url}, got a refused password; ` +
        'hint: check TONLAKE_REDIS_USERNAME and TONLAKE_REDIS_PASSWORD',
    );
    await open({ url, env: { TONLAKE_REDIS_PASSWORD: 'open-sesame' } }).take(never());
    await open({ url: url.replace('//', '//default:open-sesame@') }).take(never());
  });

  test('a password is in no error, not even in its causes', async () => {
    const limiter = open({ url: `redis://tonlake:hunter2hunter2@127.0.0.1:${locked.port}` });
    const error = await limiter.take(never()).catch((reason: unknown) => reason);
    const texts: string[] = [];
    for (let link = error; link instanceof Error; link = link.cause) {
      texts.push(JSON.stringify(Object.getOwnPropertyNames(link).map((name) => String(Reflect.get(link, name)))));
    }
    expect(texts.length).toBeGreaterThan(0);
    expect(texts.join()).not.toContain('hunter2hunter2');
  });

  test('it removes keys when memory is short', async () => {
    const { url } = await startRedis(['--maxmemory', '50mb', '--maxmemory-policy', 'allkeys-lru']);
    expect(await failure(open({ url }).take(never()))).toBe(
      `source: expected a Redis that keeps its keys at ${url}, got maxmemory-policy allkeys-lru; ` +
        'hint: redis-cli config set maxmemory-policy noeviction, or another server',
    );
  });

  test('it is something else', async () => {
    const server = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { readonly port: number };
    const text = await failure(open({ url: `redis://127.0.0.1:${port}` }).take(never()));
    expect(text).toMatch(/got (something else than Redis|a closed connection).*; hint: check the port/);
  });

  test('TLS: its certificate has to be trusted', async () => {
    const folder = freshFolder();
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'];
    execFileSync('openssl', ['req', '-x509', ...kind, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' });
    const files = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', cert];
    const server = await startRedis(['--tls-port', 'PORT', ...files, '--tls-auth-clients', 'no']);
    expect(await failure(open({ url: server.url }).take(never()))).toMatch(
      /got a certificate that is not trusted; hint: set TONLAKE_CA_FILE/,
    );
    await open({ url: server.url, env: { TONLAKE_CA_FILE: cert } }).take(never());
    const plain = server.url.replace('rediss', 'redis');
    expect(await failure(open({ url: plain }).take(never()))).toMatch(/expected a Redis server at redis:/);
  });
});

test('an address is shown without credentials, and refused if it is something else', () => {
  const address = parseRedisAddress('rediss://me:p%40ss@cache.example:6380/2', '--budget', {});
  expect(address).toMatchObject({
    shown: 'rediss://cache.example:6380/2',
    host: 'cache.example',
    port: 6380,
    database: 2,
  });
  expect(address.password?.reveal()).toBe('p@ss');
  expect(JSON.stringify(address)).not.toContain('p@ss');
  for (const text of ['http://127.0.0.1', 'redis:', '127.0.0.1:6379', 'redis://h/x', 'redis://h/1?a=secret']) {
    expect(() => parseRedisAddress(text, '--budget', {}), text).toThrow(/^usage: expected .* in --budget/);
  }
});
