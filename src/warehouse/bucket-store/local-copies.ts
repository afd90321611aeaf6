import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { StagedSpan } from '../store.ts';

/** Maximum size of the copies of a table, in bytes. */
const TABLE_BYTES = 256 * 2 ** 20;
interface Copy {
  /** As the ledger names the file. */
  readonly path: string;
  readonly bytes: number;
}

interface Leaving {
  readonly local: string;
  /** Queries that may still read it. */
  readonly readers: ReadonlySet<symbol>;
}

/**
 * The newest files of each table that this process has put into the store, on the local disk, so that a run reads what it has just
 * committed without a request.
 */
export class LocalCopies {
  readonly #folder: string;
  readonly #local = new Map<string, string>();
  readonly #tables = new Map<string, Copy[]>();
  /** Queries that run or wait. */
  readonly #readers = new Set<symbol>();
  #leaving: Leaving[] = [];

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Runs a query that may read copies: none of today's leaves before it ends, because DuckDB opens files as it comes to them. */
  async readBy<T>(query: () => Promise<T>): Promise<T> {
    const reader = Symbol('query');
    this.#readers.add(reader);
    try {
      return await query();
    } finally {
      this.#readers.delete(reader);
      await this.#removeLeft();
    }
  }

  /** The copy of a file, if there is one. */
  pathOf(path: string): string | undefined {
    return this.#local.get(path);
  }

  /** Takes over the files of a commit. The views of its tables are made again after it, so only theirs may change. */
  async take(staged: StagedSpan): Promise<void> {
    for (const [table, { files }] of Object.entries(staged.tables)) {
      const copies = this.#tables.get(table) ?? [];
      this.#tables.set(table, copies);
      for (const { path, bytes, stagedPath } of files) {
        // Below the same folders: that of the day tells `block_date`.
        const local = join(this.#folder, path);
        await mkdir(dirname(local), { recursive: true });
        await rename(stagedPath, local);
        this.#local.set(path, local);
        copies.push({ path, bytes });
      }
      this.#giveUp(copies);
    }
    await this.#removeLeft();
  }

  #giveUp(copies: Copy[]): void {
    let total = copies.reduce((sum, { bytes }) => sum + bytes, 0);
    while (total > TABLE_BYTES && copies.length > 1) {
      const [oldest] = copies.splice(0, 1);
      const local = this.#local.get(oldest?.path ?? '');
      if (oldest === undefined || local === undefined) return;
      this.#local.delete(oldest.path);
      this.#leaving.push({ local, readers: new Set(this.#readers) });
      total -= oldest.bytes;
    }
  }

  async #removeLeft(): Promise<void> {
    const isRead = ({ readers }: Leaving): boolean => [...readers].some((reader) => this.#readers.has(reader));
    const over = this.#leaving.filter((each) => !isRead(each));
    this.#leaving = this.#leaving.filter(isRead);
    for (const { local } of over) await rm(local, { force: true });
  }
}
