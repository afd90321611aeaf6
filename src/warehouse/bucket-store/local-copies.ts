import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { StagedSpan } from '../store.ts';

/** Maximum size of the copies of a table, in bytes. */
const TABLE_BYTES = 256 * 2 ** 20;

interface Copy {
  /** Path of the file in the ledger. */
  readonly path: string;
  readonly bytes: number;
}

/** A copy that is removed when no query can read it any more. */
interface Evicted {
  readonly local: string;
  /** Queries that may still read it. */
  readonly readers: ReadonlySet<symbol>;
}

/**
 * Local copies of the newest files that this process has put into the store, so that a run reads its own commits without a request.
 */
export class LocalCopies {
  readonly #folder: string;
  readonly #local = new Map<string, string>();
  readonly #tables = new Map<string, Copy[]>();
  /** Queries that run or are queued. */
  readonly #readers = new Set<symbol>();
  #evicted: Evicted[] = [];

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Runs a query that may read copies. None is removed before it ends, because DuckDB opens files only when it reaches them. */
  async readBy<T>(query: () => Promise<T>): Promise<T> {
    const reader = Symbol('query');
    this.#readers.add(reader);
    try {
      return await query();
    } finally {
      this.#readers.delete(reader);
      await this.#removeEvicted();
    }
  }

  /** The copy of a file, if there is one. */
  pathOf(path: string): string | undefined {
    return this.#local.get(path);
  }

  /** Moves the files of a commit here. Evicts only copies of the same tables, because only their views are created again. */
  async take(staged: StagedSpan): Promise<void> {
    for (const [table, { files }] of Object.entries(staged.tables)) {
      const copies = this.#tables.get(table) ?? [];
      this.#tables.set(table, copies);
      for (const { path, bytes, stagedPath } of files) {
        // In the same folders, because `block_date` is read from the path.
        const local = join(this.#folder, path);
        await mkdir(dirname(local), { recursive: true });
        await rename(stagedPath, local);
        this.#local.set(path, local);
        copies.push({ path, bytes });
      }
      this.#evictFrom(copies);
    }
    await this.#removeEvicted();
  }

  #evictFrom(copies: Copy[]): void {
    let total = copies.reduce((sum, { bytes }) => sum + bytes, 0);
    while (total > TABLE_BYTES && copies.length > 1) {
      const [oldest] = copies.splice(0, 1);
      const local = this.#local.get(oldest?.path ?? '');
      if (oldest === undefined || local === undefined) return;
      this.#local.delete(oldest.path);
      this.#evicted.push({ local, readers: new Set(this.#readers) });
      total -= oldest.bytes;
    }
  }

  async #removeEvicted(): Promise<void> {
    const isRead = ({ readers }: Evicted): boolean => [...readers].some((reader) => this.#readers.has(reader));
    const unread = this.#evicted.filter((copy) => !isRead(copy));
    this.#evicted = this.#evicted.filter(isRead);
    for (const { local } of unread) await rm(local, { force: true });
  }
}
