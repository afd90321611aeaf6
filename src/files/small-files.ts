import { readFileSync, statSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { failedWith } from '../core/failed-with.ts';
import { ifAny } from './disk.ts';

/** Number of files read before choosing how to read the others. */
const PROBE = 32;
/** Mean time per file, in milliseconds, above which files are read asynchronously. */
const SLOW_MS = 0.5;

/**
 * Reads many small files. Cached files are read synchronously, which takes a tenth of the CPU of the thread pool; on a slow disk or share,
 * they are read asynchronously, so that callers can wait for several at once.
 */
export class SmallFiles {
  #read = 0;
  #ms = 0;

  /** The bytes of a file; undefined if it does not exist. */
  async read(path: string): Promise<Buffer | undefined> {
    return this.#access(
      () => readFileSync(path),
      () => readFile(path),
    );
  }

  /** Size and time of change of a file, in bytes and milliseconds; undefined when it does not exist. */
  async stamp(path: string): Promise<string | undefined> {
    const stats = await this.#access(
      () => statSync(path),
      () => stat(path),
    );
    return stats && `${stats.size} ${Math.floor(stats.mtimeMs)}`;
  }

  async #access<T>(now: () => T, later: () => Promise<T>): Promise<T | undefined> {
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
