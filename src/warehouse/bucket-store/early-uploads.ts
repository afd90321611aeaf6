import { type Effects, startAge } from '../../core/effects.ts';
import type { FileSum, GrowingUpload, ObjectStore } from '../../objects/object-store.ts';
import type { StagedFile } from '../store.ts';

/**
 * Age from which on an upload is not completed: some stores give an object the time at which its upload began, and the collection of garbage
 * removes files by that time unless an entry names them.
 */
const COMPLETE_WITHIN_MS = 3_600_000;

/** A local file that is being put while it grows. */
export interface EarlyUpload {
  readonly key: string;
  readonly upload: GrowingUpload;
  readonly ageMs: () => number;
}

/** The uploads of a writer that began before their commit. */
export class EarlyUploads {
  readonly #objects: ObjectStore;
  readonly #effects: Pick<Effects, 'now' | 'monotonic'>;
  readonly #begun = new Map<string, EarlyUpload>();

  constructor(objects: ObjectStore, effects: Pick<Effects, 'now' | 'monotonic'>) {
    this.#objects = objects;
    this.#effects = effects;
  }

  begin(key: string, path: string): EarlyUpload {
    const early = { key, upload: this.#objects.uploadGrowing(key, path), ageMs: startAge(this.#effects) };
    this.#begun.set(key, early);
    return early;
  }

  /** Puts a file of a commit in full, whatever of it is in the store already. */
  async put({ path, stagedPath, bytes, sha256 = '' }: StagedFile): Promise<void> {
    const early = this.#begun.get(path);
    if (early !== undefined && (await this.#complete(early, { bytes, sha256 }))) return;
    if (early !== undefined) await this.abort(early);
    await this.#objects.upload(path, stagedPath, { bytes, sha256 });
  }

  async abort({ key, upload }: EarlyUpload): Promise<void> {
    this.#begun.delete(key);
    await upload.abort();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#begun.values()].map((early) => this.abort(early)));
  }

  /** @returns false if it failed: the local file is still there, and gives the error if it cannot be put either */
  async #complete({ key, upload, ageMs }: EarlyUpload, sum: FileSum): Promise<boolean> {
    if (ageMs() >= COMPLETE_WITHIN_MS) return false;
    try {
      await upload.complete(sum);
    } catch {
      return false;
    }
    this.#begun.delete(key);
    return true;
  }
}
