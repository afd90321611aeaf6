import { openLoaders, ownLoaders } from '../export/workers/loader-pool.ts';
import type { LoaderPool } from '../export/workers/loader-port.ts';
import { dropEncodingMemory } from '../parquet/encoder.ts';
import { returnFreedMemory } from '../sql/freed-memory.ts';
import type { Store } from '../warehouse/index.ts';

/** Minimum number of blocks for which a worker thread decodes a round. */
const MANY_BLOCKS = 500;

/** Rounds after which loaders are replaced: they retain the memory of their largest round. */
const MAX_ROUNDS = 16;

/** Growth of the process, in bytes, after which loaders are replaced early, but not in every round. */
const LARGE_BYTES = 32 * 2 ** 20;
const MIN_ROUNDS = 4;

type Stages = Pick<Store, 'stage' | 'scratch' | 'closeIdle'>;

/**
 * Decodes small rounds in this thread, and large ones in a worker thread. The worker ends when the head is reached: it takes tens of megabytes
 * and would be idle most of the time. The loaders of this thread are replaced regularly, because a block with many transactions, or the round
 * after an outage, takes ten times the usual memory. At the same time the store closes its idle connections.
 */
export class RoundLoaders {
  readonly #stages: Stages;
  #own: LoaderPool;
  /** Rounds since {@link RoundLoaders.#own} was opened. */
  #rounds = 0;
  /** Memory of the process at that time, in bytes. */
  #rss = Number.POSITIVE_INFINITY;
  #worker: LoaderPool | undefined;

  constructor(stages: Stages) {
    this.#stages = stages;
    this.#own = ownLoaders(stages);
  }

  /** True if the worker decodes a round of this size, for all pipelines. */
  usesWorker(blocks: number): boolean {
    return blocks >= MANY_BLOCKS;
  }

  /** The loaders for a round. No other round may be in progress. */
  async for(blocks: number): Promise<LoaderPool> {
    if (this.usesWorker(blocks)) {
      this.#worker ??= openLoaders(this.#stages, false);
      return this.#worker;
    }
    const isCaughtUp = this.#worker !== undefined;
    await this.close();
    if (isCaughtUp || this.#isDue()) await this.#renew();
    this.#rounds++;
    return this.#own;
  }

  #isDue(): boolean {
    const isLarge = process.memoryUsage.rss() - this.#rss > LARGE_BYTES;
    return this.#rounds >= (isLarge ? MIN_ROUNDS : MAX_ROUNDS);
  }

  async #renew(): Promise<void> {
    this.#own = ownLoaders(this.#stages);
    dropEncodingMemory();
    await this.#stages.closeIdle();
    // A failure costs memory only.
    await returnFreedMemory().catch(() => undefined);
    this.#rounds = 0;
    this.#rss = process.memoryUsage.rss();
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.close();
  }
}
