import PQueue from 'p-queue';
import { StoreError } from '../core/errors.ts';
import type { Registry } from '../declare/registry.ts';
import { openReader, type Reader } from '../warehouse/index.ts';
import type { FeedSource } from './feed.ts';
import type { FeedView } from './read-rows.ts';

/** A warehouse for reading, by one feed after the other. A DuckDB file is open only while it is read, because nobody can write it then. */
export class ReaderSource implements FeedSource {
  readonly #warehouse: string;
  readonly #registry: Registry;
  /** One that has read closes the DuckDB file. */
  readonly #turns = new PQueue({ concurrency: 1 });
  #reader: Reader | undefined;

  constructor(warehouse: string, registry: Registry) {
    this.#warehouse = warehouse;
    this.#registry = registry;
  }

  /** @throws {StoreError} `no-warehouse`; `busy` while a process writes a DuckDB file */
  use<T>(work: (view: FeedView) => Promise<T>): Promise<T> {
    return this.#turns.add(async () => {
      const reader = this.#reader ?? (await openReader(this.#warehouse, this.#registry.tables));
      this.#reader = reader;
      try {
        return await work(reader);
      } finally {
        if (reader.blocksWriters) await this.#close();
      }
    });
  }

  close(): Promise<void> {
    return this.#turns.add(() => this.#close());
  }

  async #close(): Promise<void> {
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
