import { setTimeout as delay } from 'node:timers/promises';
import type { Job, Worker } from 'bullmq';
import { type Effects, realEffects } from '../core/effects.ts';
import { formatError, type SourceError, UsageError } from '../core/errors.ts';
import { readVersion } from '../core/own-package.ts';
import { formatSpan, type Span } from '../core/span.ts';
import type { Registry } from '../declare/registry.ts';
import { type RunOptions, run } from '../export/run.ts';
import type { Environment } from '../http/dispatcher.ts';
import { resolveNetwork } from '../http/network.ts';
import { parseRedisAddress, type RedisAddress } from '../redis/redis-address.ts';
import { openRedis } from '../redis/redis-connection.ts';
import { RedisWatch } from '../redis/redis-watch.ts';
import { warehouseRegistry } from '../warehouse/query/warehouse-registry.ts';
import { openQueuePlace } from './open-queue-place.ts';
import type { QueuePlace } from './queue-place.ts';
import type { QueueRecord } from './queue-record.ts';
import { parseOrder, requireSameDeclarations, selectionOf, type WorkResult } from './work-order.ts';
import { openWorkQueue, queueOptions } from './work-queue.ts';

/** How soon an order is redelivered whose worker was killed. */
const LOCK_MS = 15_000;
const STALLED_CHECK_MS = 5000;
const LOOK_MS = 1000;
/** When an order that this worker refuses is offered to others. */
const GIVE_BACK_MS = 1000;

export interface WorkerOptions
  extends Pick<
    RunOptions,
    | 'network'
    | 'warehouse'
    | 'rps'
    | 'priority'
    | 'budget'
    | 'concurrency'
    | 'workers'
    | 'waitMs'
    | 'env'
    | 'registry'
    | 'effects'
    | 'onRetry'
  > {
  /** Redis server of the queue. */
  readonly queue: string;
  /** Ends after so many milliseconds without an order. Default: runs until `stop`. */
  readonly idleMs?: number | undefined;
  /** Aborted to end: the current order goes back to the queue. */
  readonly stop?: AbortSignal | undefined;
  /** Version of this tonlake; for tests. */
  readonly version?: string | undefined;
  readonly onEvent?: ((event: WorkerEvent) => void) | undefined;
}

/** What happens in a worker. */
export type WorkerEvent =
  | { readonly event: 'waiting'; readonly for: 'queue' | 'orders' }
  | { readonly event: 'waiting'; readonly for: 'server'; readonly message: string }
  | { readonly event: 'resumed' }
  | ({ readonly event: 'order' } & Span)
  | ({ readonly event: 'delivered'; readonly rows: number; readonly requests: number } & Span)
  | ({ readonly event: 'problem'; readonly message: string } & Span);

/**
 * Exports the orders of a run with --queue, one after the other, until it is stopped or idle. In an object store it commits them to the
 * warehouse itself; in a folder, each becomes a proven warehouse in the incoming folder of the one that the run writes.
 *
 * @throws {UsageError} if the run is of another network, version or declaration; {SourceError} if the server cannot be used
 */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const { env = process.env, effects = realEffects, onEvent } = options;
  const address = parseRedisAddress(options.queue, '--queue', env);
  const onChange = (failure?: SourceError): void =>
    onEvent?.(
      failure === undefined ? { event: 'resumed' } : { event: 'waiting', for: 'server', message: formatError(failure) },
    );
  const watch = new RedisWatch({ address, env, effects, onChange });
  try {
    await serve({ ...options, env, effects }, address, watch);
  } finally {
    await watch.close();
  }
}

async function serve(options: ServeOptions, address: RedisAddress, watch: RedisWatch): Promise<void> {
  const { env } = options;
  const place = await openQueuePlace(options.warehouse);
  const record = await waitForRecord(options, place, watch);
  if (record === undefined) return;
  const own = resolveNetwork(options.network).name;
  if (record.network !== own) {
    throw new UsageError(`usage: expected a worker for ${record.network}, got one for ${own}`, {
      code: 'other-network',
      hint: `--network ${record.network}`,
    });
  }
  // Says in one line if the server cannot be used.
  await (await openWorkQueue(record.id, address, env)).close();
  watch.start();
  const registry = await warehouseRegistry(options.warehouse, options.registry);
  await new OrderLoop({ ...options, registry }, place, record, address).serve();
}

/** The record of the queue, which the first run with --queue makes. */
async function waitForRecord(
  { stop, idleMs, onEvent }: WorkerOptions,
  place: QueuePlace,
  watch: RedisWatch,
): Promise<QueueRecord | undefined> {
  const since = performance.now();
  for (let looks = 0; stop?.aborted !== true; looks++) {
    const record = await place.readRecord();
    if (record !== undefined) return record;
    if (looks === 0) onEvent?.({ event: 'waiting', for: 'queue' });
    watch.start();
    if (idleMs !== undefined && performance.now() - since > idleMs) return undefined;
    await delay(LOOK_MS, undefined, { ...(stop && { signal: stop }) }).catch(() => undefined);
  }
  return undefined;
}

type ServeOptions = WorkerOptions & { readonly env: Environment; readonly effects: Effects };
type LoopOptions = ServeOptions & { readonly registry: Registry };

class OrderLoop {
  readonly #options: LoopOptions;
  readonly #place: QueuePlace;
  readonly #record: QueueRecord;
  readonly #address: RedisAddress;
  readonly #end = new AbortController();
  #isBusy = false;
  #idleSince = performance.now();

  constructor(options: LoopOptions, place: QueuePlace, record: QueueRecord, address: RedisAddress) {
    this.#options = options;
    this.#place = place;
    this.#record = record;
    this.#address = address;
  }

  /** Serves orders until the end. @throws the refusal of an order that this worker must not do */
  async serve(): Promise<void> {
    const { env, stop, onEvent } = this.#options;
    const { Worker: BullWorker, DelayedError } = await import('bullmq');
    const giveBack = async (job: Job, token: string | undefined, afterMs: number): Promise<never> => {
      await job.moveToDelayed(Date.now() + afterMs, token);
      throw new DelayedError();
    };
    const worker: Worker<unknown, WorkResult> = new BullWorker(
      this.#record.id,
      async (job, token) => {
        try {
          return (await this.#work(job)) ?? (await giveBack(job, token, 0));
        } catch (error) {
          if (this.#end.signal.aborted) return await giveBack(job, token, GIVE_BACK_MS);
          throw error;
        }
      },
      {
        ...queueOptions(this.#address, env),
        lockDuration: LOCK_MS,
        stalledInterval: STALLED_CHECK_MS,
        maxStalledCount: 1000,
      },
    );
    // Outages are told by the watch of the server; BullMQ connects again by itself, for as long as it takes.
    worker.on('error', () => undefined);
    onEvent?.({ event: 'waiting', for: 'orders' });
    try {
      while (!this.#end.signal.aborted && stop?.aborted !== true && !this.#isIdle()) {
        await delay(100);
      }
    } finally {
      await this.#close(worker);
    }
    const reason: unknown = this.#end.signal.reason;
    if (reason instanceof UsageError) throw reason;
  }

  #isIdle(): boolean {
    const { idleMs } = this.#options;
    return idleMs !== undefined && !this.#isBusy && performance.now() - this.#idleSince > idleMs;
  }

  async #close(worker: Worker): Promise<void> {
    await worker.pause(true);
    while (this.#isBusy) await delay(100);
    // BullMQ waits without end for a server that is away. What cannot be given back goes to another worker, as after a kill.
    const connection = await openRedis(this.#address, this.#options.env).catch(() => undefined);
    connection?.close();
    await worker.close(connection === undefined);
  }

  async #work(job: Job): Promise<WorkResult | undefined> {
    this.#isBusy = true;
    try {
      return await this.#export(job);
    } finally {
      this.#isBusy = false;
      this.#idleSince = performance.now();
    }
  }

  /** @returns undefined if the order was not finished because this worker ends */
  async #export(job: Job): Promise<WorkResult | undefined> {
    const { registry, effects, onEvent, stop, version = readVersion() } = this.#options;
    const order = this.#accept(() => {
      const parsed = parseOrder(job.data, version);
      requireSameDeclarations(parsed, registry);
      return parsed;
    });
    const { span, pipelines, walk } = order;
    const attempt = this.#place.attempt(span, effects.freshId());
    onEvent?.({ event: 'order', ...span });
    try {
      const report = await run({
        ...this.#runOptions(),
        ...selectionOf(order),
        ...{ pipelines, walk, range: formatSpan(span), warehouse: attempt.warehouse },
      });
      if (stop?.aborted === true) {
        await attempt.discard();
        return undefined;
      }
      const rows = Object.values(report.rows).reduce((sum, count) => sum + count, 0);
      onEvent?.({ event: 'delivered', ...span, rows, requests: report.requests });
      return { part: attempt.part, requests: report.requests, retries: report.retries };
    } catch (error) {
      await attempt.discard();
      onEvent?.({ event: 'problem', ...span, message: formatError(error) });
      throw error;
    }
  }

  /** An order of another version or declaration ends this worker, and goes to another. */
  #accept<T>(check: () => T): T {
    try {
      return check();
    } catch (error) {
      this.#end.abort(error);
      throw error;
    }
  }

  #runOptions() {
    const { network, rps, priority, budget, concurrency, workers, waitMs, env, registry, effects, onRetry, stop } =
      this.#options;
    return { network, rps, priority, budget, concurrency, workers, waitMs, env, registry, effects, onRetry, stop };
  }
}
