import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { StagedSpan } from '../store.ts';

/** Maximum size of the copies of a table, in bytes. */
const TABLE_BYTES = 256 * 2 ** 20;
/** How long a copy that was given up stays for queries that are waiting, in milliseconds. */
const LEAVE_MS = 60_000;

interface Copy {
  /** As the ledger names the file. */
  readonly path: string;
  readonly bytes: number;
}

interface Leaving {
  readonly local: string;
  readonly at: number;
}

/**
 * The newest files of each table that this process has put into the store, on the local disk, so that a run reads what it has just
 * committed without a request.
 */
export class LocalCopies {
  readonly #folder: string;
  readonly #monotonic: () => number;
  readonly #local = new Map<string, string>();
  readonly #tables = new Map<string, Copy[]>();
  #leaving: Leaving[] = [];

  constructor(folder: string, monotonic: () => number) {
    this.#folder = folder;
    this.#monotonic = monotonic;
  }

  /** The copy of a file, if there is one. */
  pathOf(path: string): string | undefined {
    return this.#local.get(path);
  }

  /** Takes over the files of a commit. The views of its tables are made again after it, so only theirs may change. */
  async take(staged: StagedSpan): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    for (const [table, { files }] of Object.entries(staged.tables)) {
      const copies = this.#tables.get(table) ?? [];
      this.#tables.set(table, copies);
      for (const { path, bytes, stagedPath } of files) {
        const local = join(this.#folder, path.replaceAll('/', '-'));
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
      this.#leaving.push({ local, at: this.#monotonic() });
      total -= oldest.bytes;
    }
  }

  async #removeLeft(): Promise<void> {
    const now = this.#monotonic();
    const over = this.#leaving.filter(({ at }) => now - at > LEAVE_MS);
    this.#leaving = this.#leaving.filter(({ at }) => now - at <= LEAVE_MS);
    for (const { local } of over) await rm(local, { force: true });
  }
}
