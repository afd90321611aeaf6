import { greatest } from '../core/span.ts';
import type { LoaderPool } from '../export/workers/loader-port.ts';
import { type LoaderOptions, openLoaders } from '../export/workers/worker-pool.ts';
import { dropEncodingMemory } from '../parquet/row-group.ts';

/** Blocks of a round from which on threads decode them: many are missing. */
const MANY_BLOCKS = 500;

/** After so many rounds, each with less than a share of the blocks of a larger one before, its memory is released. */
const SMALL = { rounds: 32, share: 0.25 } as const;

/**
 * Decodes rounds of few blocks in this thread, and others in worker threads, which end when the head is reached: each of them holds tens
 * of megabytes, and would wait most of the time. Loaders keep the memory of their largest round, such as one after an outage, until many
 * small ones have followed.
 */
export class RoundLoaders {
  readonly #options: LoaderOptions;
  #own: LoaderPool;
  /** Blocks of the largest round that this thread has memory for. */
  #largest = 0;
  /** Blocks of the last rounds in this thread. */
  #recent: readonly number[] = [];
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
    this.#recent = [...this.#recent, blocks].slice(-SMALL.rounds);
    const needed = greatest(this.#recent, 0);
    if (this.#recent.length === SMALL.rounds && needed < SMALL.share * this.#largest) {
      this.#own = openLoaders({ ...this.#options, workers: 0 });
      dropEncodingMemory();
      this.#largest = needed;
    }
    this.#largest = Math.max(this.#largest, needed);
    return this.#own;
  }

  async close(): Promise<void> {
    const threads = this.#threads;
    this.#threads = undefined;
    await threads?.close();
  }
}
