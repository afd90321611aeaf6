import type { JobsOptions, Queue, QueueOptions } from 'bullmq';
import type { Environment } from '../http/dispatcher.ts';
import type { RedisAddress } from '../redis/redis-address.ts';
import { openRedis, redisFailure, redisOptions } from '../redis/redis-connection.ts';

/** Attempts at an order before the run that asks does it itself. Orders of workers that were killed are redelivered without counting. */
const ORDER: JobsOptions = { attempts: 3, backoff: { type: 'exponential', delay: 2000 } };
/** A server that was reached before may be away for so long. */
const PATIENCE_MS = 60_000;

/** Options of queues and workers of BullMQ. */
export function queueOptions(address: RedisAddress, env: Environment): QueueOptions {
  return {
    connection: { ...redisOptions(address, env), maxRetriesPerRequest: null },
    prefix: 'tonlake:work',
    defaultJobOptions: ORDER,
    // Eviction is checked by openRedis.
    skipVersionCheck: true,
  };
}

/** The queue of a warehouse. @throws {SourceError} if the server cannot be used, see `openRedis` */
export async function openWorkQueue(id: string, address: RedisAddress, env: Environment): Promise<WorkQueue> {
  (await openRedis(address, env)).close();
  const { Queue: BullQueue } = await import('bullmq');
  const queue = new BullQueue(id, queueOptions(address, env));
  // Calls fail with the same error; BullMQ connects again by itself.
  queue.on('error', () => undefined);
  return new WorkQueue(queue, address);
}

/** A queue whose calls end: with an answer, or with one line if the server is away for too long. */
export class WorkQueue {
  readonly #queue: Queue;
  readonly #address: RedisAddress;

  constructor(queue: Queue, address: RedisAddress) {
    this.#queue = queue;
    this.#address = address;
  }

  async use<T>(work: (queue: Queue) => Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer for ${PATIENCE_MS / 1000} s`)), PATIENCE_MS);
    });
    try {
      return await Promise.race([work(this.#queue), late]);
    } catch (error) {
      throw redisFailure(error, this.#address);
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    // A connection that waits for its server is not worth waiting for.
    await this.#queue.disconnect().catch(() => undefined);
  }
}
