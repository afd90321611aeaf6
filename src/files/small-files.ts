import { readFileSync, statSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { failedWith, ifAny } from './disk.ts';

/** Files after which it is decided how the others are read. */
const PROBE = 32;
/** Mean time of a file above which reading it by itself keeps others waiting, in milliseconds. */
const SLOW_MS = 0.5;

/**
 * Reads many small files. A file that the system has in memory is read within the call, which takes a tenth of the CPU of a
 * request to the thread pool; on a disk or share that is slow to answer, callers wait for several files side by side.
 */
export class SmallFiles {
  #read = 0;
  #ms = 0;

  /** The text of a file; undefined when it does not exist. */
  async text(path: string): Promise<string | undefined> {
    return this.#ask(
      () => readFileSync(path, 'utf8'),
      () => readFile(path, 'utf8'),
    );
  }

  /** Size and time of change of a file, in bytes and milliseconds; undefined when it does not exist. */
  async stamp(path: string): Promise<string | undefined> {
    const stats = await this.#ask(
      () => statSync(path),
      () => stat(path),
    );
    return stats && `${stats.size} ${Math.floor(stats.mtimeMs)}`;
  }

  async #ask<T>(now: () => T, later: () => Promise<T>): Promise<T | undefined> {
    if (this.#read >= PROBE && this.#ms / this.#read > SLOW_MS) return ifAny(later());
    const startedAt = performance.now();
    try {
      return now();
    } catch (error) {
      if (failedWith(error, 'ENOENT')) return undefined;
      throw error;
    } finally {
      this.#read++;
      this.#ms += performance.now() - startedAt;
    }
  }
}
