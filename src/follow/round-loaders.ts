import type { LoaderPool } from '../export/workers/loader-port.ts';
import { type LoaderOptions, openLoaders } from '../export/workers/worker-pool.ts';
import { dropEncodingMemory } from '../parquet/row-group.ts';
import { returnFreedMemory } from '../sql/freed-memory.ts';

/** Blocks of a round from which on threads decode them: many are missing. */
const MANY_BLOCKS = 500;

/** Loaders keep the memory of their largest round: after so many rounds, new ones take their place. */
const KEPT_ROUNDS = 32;

/**
 * Decodes rounds of few blocks in this thread, and others in worker threads, which end when the head is reached: each of them holds tens
 * of megabytes, and would wait most of the time. Those of this thread are renewed now and then: a block with many transactions, and the
 * round after an outage, need ten times the memory of others.
 */
export class RoundLoaders {
  readonly #options: LoaderOptions;
  #own: LoaderPool;
  #rounds = 0;
  #threads: LoaderPool | undefined;

  constructor(options: LoaderOptions) {
    this.#options = options;
    this.#own = openLoaders({ ...options, workers: 0 });
  }

  /** The loaders of a round. No other round may be in progress. */
  async for(blocks: number): Promise<LoaderPool> {
    if (blocks >= MANY_BLOCKS) {
      this.#threads ??= openLoaders(this.#options);
      return this.#threads;
    }
    await this.close();
    if (++this.#rounds % KEPT_ROUNDS === 0) {
      this.#own = openLoaders({ ...this.#options, workers: 0 });
      dropEncodingMemory();
      // What was collected since the last time. A failure would cost memory only.
      await returnFreedMemory().catch(() => undefined);
    }
    return this.#own;
  }

  async close(): Promise<void> {
    const threads = this.#threads;
    this.#threads = undefined;
    await threads?.close();
  }
}
