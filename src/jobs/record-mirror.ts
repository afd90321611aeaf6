import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ifAny, makeFolder, replaceText } from '../files/disk.ts';
import type { ObjectStore } from '../objects/object-store.ts';

/**
 * The records of a job in the object store of its warehouse, where every host sees them. The folder of this machine is a copy, from which
 * records are read.
 */
export class RecordMirror {
  readonly #objects: ObjectStore;
  readonly #folder: string;
  readonly #prefix: string;

  /** @param folder of the copies */
  constructor(objects: ObjectStore, folder: string, job: string) {
    this.#objects = objects;
    this.#folder = folder;
    this.#prefix = `${job}/`;
  }

  /** Fetches what other hosts have written. @param isFinal true for the text of a record that does not change any more */
  async pull(isFinal: (text: string) => boolean): Promise<void> {
    for (const { key, bytes: size } of await this.#objects.list(this.#prefix)) {
      const name = key.slice(this.#prefix.length);
      if (name.includes('/')) continue;
      const held = await ifAny(readFile(join(this.#folder, name), 'utf8'));
      // A log only grows.
      const isKnown = held !== undefined && (name.endsWith('.log') ? Buffer.byteLength(held) >= size : isFinal(held));
      if (isKnown) continue;
      const bytes = await this.#objects.get(key);
      if (bytes === undefined) continue;
      await makeFolder(this.#folder);
      await replaceText(join(this.#folder, name), Buffer.from(bytes).toString('utf8'), `pull-${process.pid}`);
    }
  }

  /** Shows a file of the folder to other hosts. */
  async put(name: string): Promise<void> {
    const text = await ifAny(readFile(join(this.#folder, name)));
    if (text !== undefined) await this.#objects.put(`${this.#prefix}${name}`, text);
  }

  async remove(names: readonly string[]): Promise<void> {
    await this.#objects.remove(names.map((name) => `${this.#prefix}${name}`));
  }
}
