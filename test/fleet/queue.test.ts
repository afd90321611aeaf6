import { appendFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { formatError } from '../../src/core/errors.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { type RunEvent, run } from '../../src/export/run.ts';
import { runQueued } from '../../src/fleet/coordinate.ts';
import { runWorker, type WorkerEvent, type WorkerOptions } from '../../src/fleet/worker.ts';
import { parseRedisAddress } from '../../src/redis/redis-address.ts';
import { RedisWatch } from '../../src/redis/redis-watch.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts';
import { type Hashes, hashTables } from '../e2e/export.ts';
import { hasRedis, type RedisServer, startRedis } from '../redis-server.ts';
import { freshFolder } from '../scratch.ts';
import { verify } from '../verify/support.ts';

const RANGE = '1000:1019';
const PIPELINES = ['transactions', 'message_links'];

describe.skipIf(!hasRedis)('a run with a queue', () => {
  let redis: RedisServer;
  let sandbox: Sandbox;
  let wanted: Hashes;

  beforeAll(async () => {
    redis = await startRedis();
    sandbox = await startSandbox();
    const warehouse = place();
    await run({ pipelines: PIPELINES, network: sandbox.url, range: RANGE, warehouse, workers: 0 });
    wanted = await hashTables(warehouse);
  });

  afterAll(async () => {
    await sandbox.close();
  });

  const place = (): string => join(freshFolder(), 'w');

  /** The events of a run that asks workers for 10 blocks at a time. */
  async function ask(warehouse: string, server: Pick<RedisServer, 'url'> = redis): Promise<readonly RunEvent[]> {
    const events: RunEvent[] = [];
    await runQueued({
      ...{ pipelines: PIPELINES, network: sandbox.url, range: RANGE, warehouse, workers: 0 },
      ...{ queue: server.url, orderBlocks: 10, onEvent: (event: RunEvent) => events.push(event) },
    });
    return events;
  }

  /** A worker that ends when it has been idle, with what it told. */
  async function work(warehouse: string, more: Partial<WorkerOptions> = {}): Promise<readonly WorkerEvent[]> {
    const events: WorkerEvent[] = [];
    await runWorker({
      ...{ network: sandbox.url, warehouse, queue: redis.url, workers: 0, idleMs: 1500 },
      onEvent: (event) => events.push(event),
      ...more,
    });
    return events;
  }

  const spansOf = (events: readonly WorkerEvent[]) =>
    events.flatMap((event) => (event.event === 'delivered' ? [`${event.from}:${event.to}`] : []));

  test('has the rows of one machine, exported by several, with one report of all; it is one at a time, and asks nobody for what is done', async () => {
    const warehouse = place();
    const before = sandbox.requests.stats().requests;
    const asking = ask(warehouse);
    while ((await redis.client.keys('tonlake:work:*:wait')).length === 0) await delay(20);
    await expect(ask(warehouse)).rejects.toThrow(/is being written by process \d+.*--queue/);
    const [events, ...workers] = await Promise.all([asking, work(warehouse), work(warehouse)]);
    expect(workers.flatMap(spansOf).sort()).toEqual(['1000:1009', '1010:1019']);
    expect(await hashTables(warehouse)).toEqual(wanted);
    expect((await verify(warehouse)).findings).toEqual([]);
    const report = events.at(-1);
    expect(report).toMatchObject({ event: 'done', from: 1000, to: 1019, complete: true });
    if (report?.event !== 'done') throw new Error('expected a report');
    const rows = Object.entries(wanted).map(([table, text]) => [table, Number(text.split(' ')[0])]);
    expect(report.rows).toEqual(Object.fromEntries(rows));
    // The requests of the workers count; the run itself only asked for the range.
    expect(report.requests).toBeGreaterThan(5);
    expect(report.requests).toBeLessThanOrEqual(sandbox.requests.stats().requests - before);
    expect(events.filter(({ event }) => event === 'orders').at(-1)).toMatchObject({ done: 2, total: 2 });
    expect(events.find(({ event }) => event === 'orders')).toMatchObject({ done: 0, workers: 0 });
    expect(events.filter(({ event }) => event === 'problem')).toEqual([]);
    expect(readdirSync(join(warehouse, '_incoming'))).toEqual(['queue.json']);
    expect((await ask(warehouse)).at(-1)).toMatchObject({ event: 'done', spans: 0, complete: true });
  });

  test('continues after its server restarted empty', async () => {
    const own = await startRedis();
    const warehouse = place();
    const asking = ask(warehouse, own);
    // The orders are there, nobody works on them yet, and then they are gone.
    while ((await own.client.keys('tonlake:work:*')).length === 0) await delay(20);
    await own.restart();
    const end = new AbortController();
    const working = work(warehouse, { queue: own.url, idleMs: 600_000, stop: end.signal });
    const [events, worker] = await Promise.all([asking.finally(() => end.abort()), working]);
    expect(spansOf(worker)).toHaveLength(2);
    expect(events.at(-1)).toMatchObject({ complete: true });
    expect(await hashTables(warehouse)).toEqual(wanted);
  });

  test('takes over no file that was changed on the way, and fetches its blocks itself', async () => {
    const warehouse = place();
    const spoil = ({ event, ...span }: WorkerEvent): void => {
      if (event !== 'delivered' || !('from' in span) || span.from !== 1010) return;
      const incoming = join(warehouse, '_incoming');
      const part = readdirSync(incoming).find((name) => name.startsWith('1010-')) ?? '';
      const tables = join(incoming, part, 'tables/transactions');
      const [file = ''] = readdirSync(tables, { recursive: true, encoding: 'utf8' }).filter((name) =>
        name.endsWith('.parquet'),
      );
      appendFileSync(join(tables, file), 'x');
    };
    const [events] = await Promise.all([ask(warehouse), work(warehouse, { onEvent: spoil })]);
    expect(events.filter(({ event }) => event === 'problem')).toMatchObject([
      {
        from: 1010,
        to: 1019,
        message: expect.stringMatching(/^the workers did not bring 1010:1019.*another checksum/),
      },
    ]);
    expect(events.at(-1)).toMatchObject({ complete: true });
    expect(await hashTables(warehouse)).toEqual(wanted);
  });

  test('refuses workers of another version and of other declarations, whose orders go to others', async () => {
    const warehouse = place();
    const asking = ask(warehouse);
    const failure = (more: Partial<WorkerOptions>): Promise<string> =>
      work(warehouse, more).then(() => expect.fail('expected a refusal'), formatError);
    expect(await failure({ version: '0.0.9' })).toMatch(
      /^usage: expected a worker of the version that asks, tonlake \S+, got tonlake 0\.0\.9; hint: install the same version on all machines$/,
    );
    const registry = await loadRegistry();
    const changed = registry.pipelines.map((pipeline) =>
      pipeline.name === 'message_links' ? { ...pipeline, doc: 'Something else.' } : pipeline,
    );
    const other = Object.create(registry, { pipelines: { value: changed } });
    expect(await failure({ registry: Object.assign(other, { with: () => other }) })).toMatch(
      /^usage: expected the declaration of message_links that the asking run has, got another; hint: .*--pipelines folder$/,
    );
    expect(await failure({ network: 'testnet' })).toMatch(
      /^usage: expected a worker for http:\S+, got one for testnet; hint: --network http/,
    );
    expect(spansOf(await work(warehouse))).toHaveLength(2);
    expect((await asking).at(-1)).toMatchObject({ complete: true });
  });

  test('a server that is not there, or removes keys, is refused by both sides in one line', async () => {
    const warehouse = place();
    const evicting = await startRedis(['--maxmemory', '50mb', '--maxmemory-policy', 'allkeys-lru']);
    const told = (work: Promise<unknown>): Promise<string> =>
      work.then(() => expect.fail('expected a refusal'), formatError);
    const gone = 'redis://127.0.0.1:1';
    for (const [queue, says] of [
      [
        gone,
        /^source: expected a Redis server at redis:\/\/127\.0\.0\.1:1, got ECONNREFUSED; hint: check that it runs/,
      ],
      [
        evicting.url,
        /^source: expected a Redis that keeps its keys .*got maxmemory-policy allkeys-lru; hint: redis-cli config/,
      ],
    ] as const) {
      expect(await told(ask(warehouse, { url: queue }))).toMatch(says);
      // The refused run has made the record of the queue.
      expect(await told(work(warehouse, { queue }))).toMatch(says);
    }
    expect(await hashTables(warehouse)).toEqual({});
  });

  test('a worker tells once that its server is away, and that it is back', async () => {
    const own = await startRedis();
    const warehouse = place();
    await expect(ask(warehouse, { url: 'redis://127.0.0.1:1' })).rejects.toMatchObject({ code: 'no-redis' });
    const told: string[] = [];
    const end = new AbortController();
    const steps = [own.kill, own.restart, own.kill, async () => end.abort()];
    const onEvent = async (event: WorkerEvent): Promise<void> => {
      told.push(event.event === 'waiting' ? event.for : event.event);
      await steps[told.length - 1]?.();
    };
    // The end does not wait for a server that is away.
    await work(warehouse, { queue: own.url, idleMs: 600_000, stop: end.signal, onEvent });
    expect(told).toEqual(['orders', 'server', 'resumed', 'server']);
  });

  test('a worker that was started before the first run tells that its server is away, and why', async () => {
    const told: WorkerEvent[] = [];
    const end = new AbortController();
    const onEvent = (event: WorkerEvent): void => {
      if (told.push(event) === 2) end.abort();
    };
    await work(place(), { queue: 'redis://127.0.0.1:1', idleMs: 600_000, stop: end.signal, onEvent });
    const message = expect.stringMatching(/^source: expected .* at redis:\/\/127\.0\.0\.1:1, got ECONNREFUSED; hint: /);
    expect(told).toEqual([
      { event: 'waiting', for: 'queue' },
      { event: 'waiting', for: 'server', message },
    ]);
  });

  test('a server that hangs is away until it answers', async () => {
    const own = await startRedis();
    const address = parseRedisAddress(own.url, '--queue', {});
    const effects = { ...realEffects, sleep: (_ms: number, signal?: AbortSignal) => realEffects.sleep(20, signal) };
    await own.client.call('CLIENT', 'PAUSE', '600000', 'ALL');
    const told: string[] = [];
    await new Promise<void>((resolve) => {
      const onChange = async (failure?: Error): Promise<void> => {
        if (told.push(failure?.message ?? 'back') === 1) await own.restart();
        else await watch.close().then(resolve);
      };
      // Long enough for a server that does answer, on a machine that is busy.
      const watch = new RedisWatch({ address, env: {}, effects, answerMs: 1000, onChange });
      watch.start();
    });
    expect(told).toEqual([expect.stringMatching(/got no answer$/), 'back']);
  });

  test('needs a folder, and blocks that exist', async () => {
    await expect(ask(join(freshFolder(), 'w.duckdb'))).rejects.toThrow(
      /expected a folder of Parquet files or s3:\/\/bucket\/prefix for --queue/,
    );
    const ahead = { pipelines: PIPELINES, network: sandbox.url, range: ':+10', warehouse: place(), queue: redis.url };
    await expect(runQueued(ahead)).rejects.toThrow(/expected blocks that exist for --queue, got :\+10/);
  });
});
