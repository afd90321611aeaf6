import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
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
    if (this.#read >= PROBE && this.#ms / this.#read > SLOW_MS) return ifAny(readFile(path, 'utf8'));
    const startedAt = performance.now();
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      if (failedWith(error, 'ENOENT')) return undefined;
      throw error;
    } finally {
      this.#read++;
      this.#ms += performance.now() - startedAt;
    }
  }
}
