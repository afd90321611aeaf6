import { readFile } from 'node:fs/promises';
import { StoreError } from '../../src/core/errors.ts';
import { sha256Of } from '../../src/core/sha256.ts';
import type { FileSum, ObjectEntry, ObjectStore } from '../../src/objects/object-store.ts';
import type { World } from './world.ts';

interface StoredObject {
  readonly bytes: Buffer;
  readonly putAt: number;
  readonly sha256: string | undefined;
}

/** Attempts of a request, and the pause between them. */
const ATTEMPTS = 4;
const PAUSE_MS = 200;

/**
 * An object store with the guarantees of S3, and no more: a request can fail, or succeed and lose its response; then it is sent again. Its clock
 * is that of the world, and differs from those of the machines.
 */
export class SimulatedBucket implements ObjectStore {
  readonly url: string;
  readonly objects = new Map<string, StoredObject>();
  readonly #world: World;

  constructor(url: string, world: World) {
    this.url = url;
    this.#world = world;
  }

  async list(prefix: string, after = ''): Promise<readonly ObjectEntry[]> {
    return this.#send(`list ${prefix}`, () =>
      [...this.objects]
        .filter(([key]) => key.startsWith(prefix) && key > after)
        .map(([key, { bytes, putAt }]) => ({ key, bytes: bytes.length, putAt }))
        .sort((a, b) => (a.key < b.key ? -1 : 1)),
    );
  }

  async folders(folder: string): Promise<readonly string[]> {
    const below = (await this.list(folder)).map(({ key }) => key.slice(folder.length));
    return [...new Set(below.flatMap((key) => (key.includes('/') ? [key.slice(0, key.indexOf('/'))] : [])))];
  }

  async names(folder: string, after?: string): Promise<readonly string[]> {
    const base = `${folder}/`;
    const found = await this.list(base, after === undefined ? undefined : base + after);
    return found.map(({ key }) => key.slice(base.length));
  }

  get(key: string): Promise<Uint8Array | undefined> {
    return this.#send(`get ${key}`, () => this.objects.get(key)?.bytes);
  }

  put(key: string, bytes: Uint8Array): Promise<void> {
    return this.#send(`put ${key}`, () => this.#put(key, bytes));
  }

  async putOrGet(key: string, bytes: Uint8Array): Promise<Uint8Array | undefined> {
    const isPut = await this.#send(`put if absent ${key}`, () => {
      if (this.objects.has(key)) return false;
      this.#put(key, bytes);
      return true;
    });
    if (isPut) return undefined;
    const there = await this.get(key);
    if (there === undefined) return this.putOrGet(key, bytes);
    return Buffer.compare(there, bytes) === 0 ? undefined : there;
  }

  async putInPlaceOf(key: string, before: Uint8Array, bytes: Uint8Array): Promise<boolean> {
    const isPut = await this.#send(`put in place ${key}`, () => {
      if (this.objects.get(key)?.bytes.equals(before) !== true) return false;
      this.#put(key, bytes);
      return true;
    });
    return isPut || Buffer.compare((await this.get(key)) ?? Buffer.alloc(0), bytes) === 0;
  }

  async remove(keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.#send(`delete ${key}`, () => void this.objects.delete(key));
  }

  async head(key: string): Promise<{ readonly bytes: number; readonly sha256: string | undefined } | undefined> {
    return this.#send(`head ${key}`, () => {
      const found = this.objects.get(key);
      return found && { bytes: found.bytes.length, sha256: found.sha256 };
    });
  }

  async read(key: string, begin: Parameters<ObjectStore['read']>[1]): Promise<boolean> {
    const bytes = await this.get(key);
    if (bytes === undefined) return false;
    const take = await begin();
    await take(bytes);
    return true;
  }

  async upload(key: string, path: string, sum: FileSum): Promise<void> {
    const bytes = await readFile(path);
    if (bytes.length !== sum.bytes || sha256Of(bytes) !== sum.sha256) throw new Error(`${path} has changed`);
    await this.#send(`upload ${key}`, () => this.#put(key, bytes, sum.sha256));
  }

  async copy(from: string, to: string): Promise<void> {
    await this.#send(`copy ${to}`, () => this.#put(to, this.objects.get(from)?.bytes ?? Buffer.alloc(0)));
  }

  uploadGrowing(): never {
    throw new Error('the simulation stages no growing files');
  }

  async abortUploads(): Promise<number> {
    return this.#send('abort uploads', () => 0);
  }

  #put(key: string, bytes: Uint8Array, sha256?: string): void {
    this.objects.set(key, { bytes: Buffer.from(bytes), putAt: Math.floor(this.#world.now), sha256 });
  }

  async #send<T>(name: string, work: () => T): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#world.call(name, work);
      } catch (error) {
        if (attempt === ATTEMPTS) throw new StoreError(`store: ${this.url}: ${name}`, { code: 'failed', cause: error });
      }
      await this.#world.sleep(PAUSE_MS * attempt);
    }
  }
}
