import PQueue from 'p-queue';
import { isOutOfMemory } from '../core/errors.ts';
import { quoteText } from './canonical-text.ts';
import type { Query } from './query-result.ts';

/** The memory limit of a DuckDB instance, which all its connections share. */
export class MemoryLimit {
  /** The limit to restore; undefined while it applies. */
  #limit: string | undefined;
  /** Number of calls that run with more memory. */
  #widened = 0;
  readonly #changes = new PQueue({ concurrency: 1 });

  /** Runs `work`, and once more with a limit of 2 GB if it exceeds the limit, so that a large span does not fail. */
  async within<T>(query: Query, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!isOutOfMemory(error)) throw error;
      this.#widened++;
      try {
        await this.#changes.add(() => this.#widen(query));
        return await work();
      } finally {
        this.#widened--;
      }
    } finally {
      if (this.#limit !== undefined) await this.#changes.add(() => this.#restore(query));
    }
  }

  async #widen(query: Query): Promise<void> {
    if (this.#limit !== undefined) return;
    const { rows } = await query("SELECT current_setting('memory_limit')");
    await query("SET memory_limit = '2GB'");
    // DuckDB truncates the text after the tenths, so the limit would shrink each time.
    this.#limit = String(rows[0]?.[0]).replace(/(\.\d)(?= )/, '$15');
  }

  async #restore(query: Query): Promise<void> {
    if (this.#limit === undefined || this.#widened > 0) return;
    // Fails while more memory is in use, also by other statements; the next call retries.
    const isRestored = await query(`SET memory_limit = ${quoteText(this.#limit)}`).then(
      () => true,
      () => false,
    );
    if (isRestored) this.#limit = undefined;
  }
}
