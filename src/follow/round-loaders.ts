import { openLoaders, ownLoaders } from '../export/workers/loader-pool.ts';
import type { LoaderPool } from '../export/workers/loader-port.ts';
import { dropEncodingMemory } from '../parquet/encoder.ts';
import { returnFreedMemory } from '../sql/freed-memory.ts';
import type { Store } from '../warehouse/index.ts';

/** Blocks of a round from which on a thread decodes them: many are missing. */
const MANY_BLOCKS = 500;

/** Loaders keep the memory of their largest round: after so many rounds, new ones take their place. */
const KEPT_ROUNDS = 16;

/** New ones also come after a large round: when the process has taken so many bytes since the last ones, but not in each round. */
const LARGE_BYTES = 32 * 2 ** 20;
const LEAST_KEPT_ROUNDS = 4;

type Stages = Pick<Store, 'stage' | 'scratch' | 'closeIdle'>;

/**
 * Decodes rounds of few blocks in this thread, and others in a worker thread, which ends when the head is reached: it holds tens of
 * megabytes, and would wait most of the time. Those of this thread are renewed now and then: a block with many transactions, and the
 * round after an outage, need ten times the memory of others. Then the store closes what it does not need now, too.
 */
export class RoundLoaders {
  readonly #stages: Stages;
  #own: LoaderPool;
  /** Rounds of {@link RoundLoaders.#own}. */
  #rounds = 0;
  /** Memory of the process when they were new, in bytes. */
  #rss = Number.POSITIVE_INFINITY;
  #worker: LoaderPool | undefined;

  constructor(stages: Stages) {
    this.#stages = stages;
    this.#own = ownLoaders(stages);
  }

  /** True if the pipelines of a round take turns with the same loaders. */
  areShared(blocks: number): boolean {
    return blocks >= MANY_BLOCKS;
  }

  /** The loaders of a round. No other round may be in progress. */
  async for(blocks: number): Promise<LoaderPool> {
    if (blocks >= MANY_BLOCKS) {
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
    return this.#rounds >= (isLarge ? LEAST_KEPT_ROUNDS : KEPT_ROUNDS);
  }

  async #renew(): Promise<void> {
    this.#own = ownLoaders(this.#stages);
    dropEncodingMemory();
    await this.#stages.closeIdle();
    // A failure would cost memory only.
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
