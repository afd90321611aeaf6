import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunEvent, run } from '../../src/export/run.ts';
import { runQueued } from '../../src/fleet/coordinate.ts';
import { runWorker, type WorkerEvent, type WorkerOptions } from '../../src/fleet/worker.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts';
import { openPlace } from '../../src/warehouse/bucket-store/bucket-place.ts';
import { openReader } from '../../src/warehouse/index.ts';
import { type Hashes, hashTables } from '../e2e/export.ts';
import { EXTENSIONS, S3_PROGRAM, startS3, useS3 } from '../objects/s3-server.ts';
import { hasRedis, type RedisServer, startRedis } from '../redis-server.ts';

const RANGE = '1000:1019';
const PIPELINES = ['transactions', 'message_links'];
const isMissing = !hasRedis || S3_PROGRAM === undefined || EXTENSIONS === undefined;

describe.skipIf(isMissing)(
  'a run with a queue, into an object store (skipped without Redis, versitygw and TONLAKE_DUCKDB_EXTENSIONS)',
  () => {
    let redis: RedisServer;
    let sandbox: Sandbox;
    let wanted: Hashes;

    beforeAll(async () => {
      redis = await startRedis();
      sandbox = await startSandbox();
      useS3(await startS3());
      process.env['TONLAKE_DUCKDB_EXTENSIONS'] = EXTENSIONS;
      const warehouse = 's3://lake/one';
      await run({ pipelines: PIPELINES, network: sandbox.url, range: RANGE, warehouse, workers: 0 });
      wanted = await hashTables(warehouse);
    });

    afterAll(async () => {
      await sandbox.close();
    });

    /** The events of a run that asks workers for 10 blocks at a time. */
    async function ask(warehouse: string, more: { readonly stop?: AbortSignal } = {}): Promise<readonly RunEvent[]> {
      const events: RunEvent[] = [];
      await runQueued({
        ...{ pipelines: PIPELINES, network: sandbox.url, range: RANGE, warehouse, workers: 0, ...more },
        ...{ queue: redis.url, orderBlocks: 10, onEvent: (event: RunEvent) => events.push(event) },
      });
      return events;
    }

    /** A worker that ends with the run it works for, with what it told. */
    async function work(asking: Promise<unknown>, more: Partial<WorkerOptions> & Pick<WorkerOptions, 'warehouse'>) {
      const events: WorkerEvent[] = [];
      const end = new AbortController();
      const ended = asking.finally(() => end.abort());
      await runWorker({
        ...{ network: sandbox.url, queue: redis.url, workers: 0, stop: end.signal },
        onEvent: (event) => events.push(event),
        ...more,
      });
      await ended;
      return events;
    }

    const spansOf = (events: readonly WorkerEvent[]) =>
      events.flatMap((event) => (event.event === 'delivered' ? [`${event.from}:${event.to}`] : []));
    const isQueued = async (warehouse: string): Promise<boolean> => {
      const text = await openPlace(warehouse).objects.get('_incoming/queue.json');
      const { id } = text === undefined ? { id: 'none' } : JSON.parse(Buffer.from(text).toString());
      return (await redis.client.exists(`tonlake:work:${id}:wait`)) === 1;
    };

    test('has the rows of one machine; each worker commits by itself, and one run at a time asks them', async () => {
      const warehouse = 's3://lake/queued';
      const asking = ask(warehouse);
      while (!(await isQueued(warehouse))) await delay(20);
      await expect(ask(warehouse)).rejects.toMatchObject({
        code: 'queue-busy',
        message: expect.stringMatching(
          /^store: the workers of this warehouse are asked by process \d+ on \S+ since \S+$/,
        ),
      });
      const working = [1, 2].map(() => work(asking, { warehouse }));
      const [events, ...workers] = await Promise.all([asking, ...working]);
      expect(workers.flatMap(spansOf).sort()).toEqual(['1000:1009', '1010:1019']);
      expect(await hashTables(warehouse)).toEqual(wanted);
      const report = events.at(-1);
      if (report?.event !== 'done') throw new Error('expected a report');
      const rows = Object.entries(wanted).map(([table, text]) => [table, Number(text.split(' ')[0])]);
      expect(report).toMatchObject({ complete: true, rows: Object.fromEntries(rows) });
      expect(events.filter(({ event }) => event === 'orders').at(-1)).toMatchObject({ done: 2, total: 2 });
      expect(events.filter(({ event }) => event === 'problem')).toEqual([]);
      const reader = await openReader(warehouse, []);
      expect((await reader.ledger()).length).toBe(report.spans);
      await reader.close();
      const keys = (await openPlace(warehouse).objects.list('_')).map(({ key }) => key.split('/')[0]);
      expect(new Set(keys)).toEqual(new Set(['_checkpoints', '_declarations', '_incoming', '_ledger']));
      expect((await ask(warehouse)).at(-1)).toMatchObject({ event: 'done', spans: 0, complete: true });
    });

    test('what workers commit after their run was stopped is not asked for again', async () => {
      const warehouse = 's3://lake/stopped';
      const [end, endOfWork] = [new AbortController(), new AbortController()];
      const stopped = ask(warehouse, { stop: end.signal });
      let delivered = 0;
      await work(stopped, {
        ...{ warehouse, stop: endOfWork.signal },
        onEvent: ({ event }) => {
          if (event === 'order') end.abort();
          if (event !== 'delivered') return;
          delivered++;
          endOfWork.abort();
        },
      });
      expect(delivered).toBeGreaterThan(0);
      const asking = ask(warehouse);
      await work(asking, { warehouse });
      const events = await asking;
      expect(events.find(({ event }) => event === 'orders')).toMatchObject({ done: 0, total: 2 - delivered });
      expect(events.at(-1)).toMatchObject({ complete: true });
      expect(await hashTables(warehouse)).toEqual(wanted);
    });

    test('a server that restarted empty gets only the orders that the ledger lacks', async () => {
      const warehouse = 's3://lake/emptied';
      const asking = ask(warehouse);
      while (!(await isQueued(warehouse))) await delay(20);
      await run({ pipelines: PIPELINES, network: sandbox.url, range: '1000:1009', warehouse, workers: 0 });
      await redis.client.flushall();
      const worker = await work(asking, { warehouse });
      const events = await asking;
      expect(spansOf(worker)).toEqual(['1010:1019']);
      expect(events.at(-1)).toMatchObject({ event: 'done', complete: true });
      expect(await hashTables(warehouse)).toEqual(wanted);
    });

    test('what a worker reports but the ledger lacks is fetched by the run itself', async () => {
      const warehouse = 's3://lake/lied';
      const asking = ask(warehouse);
      while (!(await isQueued(warehouse))) await delay(20);
      const { Worker } = await import('bullmq');
      const text = await openPlace(warehouse).objects.get('_incoming/queue.json');
      const { id } = JSON.parse(Buffer.from(text ?? '').toString());
      const liar = new Worker(id, async () => ({ requests: 7, retries: 0 }), {
        ...{ connection: { host: '127.0.0.1', port: redis.port, maxRetriesPerRequest: null }, prefix: 'tonlake:work' },
      });
      const events = await asking;
      await liar.close();
      expect(events.filter(({ event }) => event === 'problem')).toMatchObject([
        {
          code: 'order-failed',
          message: expect.stringMatching(/did not bring 10\d0:10\d9, .*: some blocks are not in the ledger/),
        },
        { code: 'order-failed' },
      ]);
      expect(events.at(-1)).toMatchObject({ complete: true });
      expect(await hashTables(warehouse)).toEqual(wanted);
    });
  },
);
