import { StoreError } from '../core/errors.ts';
import type { Registry } from '../declare/registry.ts';
import { openReader, type Reader } from '../warehouse/index.ts';
import type { FeedSource } from './feed.ts';
import type { FeedView } from './read-rows.ts';

/** A warehouse for reading. A DuckDB file is open only while it is read, because nobody can write it then. */
export class ReaderSource implements FeedSource {
  readonly #warehouse: string;
  readonly #registry: Registry;
  #reader: Reader | undefined;

  constructor(warehouse: string, registry: Registry) {
    this.#warehouse = warehouse;
    this.#registry = registry;
  }

  /** @throws {StoreError} `no-warehouse`; `busy` while a process writes a DuckDB file */
  async use<T>(work: (view: FeedView) => Promise<T>): Promise<T> {
    this.#reader ??= await openReader(this.#warehouse, this.#registry.tables);
    try {
      return await work(this.#reader);
    } finally {
      if (this.#reader.blocksWriters) await this.close();
    }
  }

  async close(): Promise<void> {
    const reader = this.#reader;
    this.#reader = undefined;
    await reader?.close();
  }
}

/** What `work` gives, or undefined if it fails with a code. */
export async function unless<T>(code: string, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StoreError && error.code === code) return undefined;
    throw error;
  }
}
