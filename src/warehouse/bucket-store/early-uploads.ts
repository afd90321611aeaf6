import { type Effects, startAge } from '../../core/effects.ts';
import type { FileSum, GrowingUpload, ObjectStore } from '../../objects/object-store.ts';
import type { StagedFile } from '../store.ts';

/**
 * Maximum age of an upload that is completed. Some stores date an object by the start of its upload, and garbage collection removes files
 * without an entry by that date.
 */
const COMPLETE_WITHIN_MS = 3_600_000;

/** The upload of a local file that still grows. */
export interface EarlyUpload {
  readonly key: string;
  readonly upload: GrowingUpload;
  readonly ageMs: () => number;
}

/** Uploads of a writer that began before the commit. */
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

  /** Puts a file of a commit: completes its early upload, or uploads it from the start. */
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

  /** @returns false if it failed. The file is uploaded from the start then, and a lasting failure is reported by that upload */
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
