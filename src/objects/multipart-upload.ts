import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import type PQueue from 'p-queue';
import { StoreError } from '../core/errors.ts';
import type { FileSum, GrowingUpload } from './object-store.ts';

/** Size of the parts of an upload, in bytes. Stores take 5 MB and more. */
const PART_BYTES = 8 * 2 ** 20;

/** A part that is in the store. */
export interface SentPart {
  readonly PartNumber: number;
  readonly ETag: string | undefined;
}

/** The requests of one upload in parts; each is retried as its failure allows. */
export interface PartRequests {
  /** @returns the id of the upload */
  begin(): Promise<string>;
  send(id: string, number: number, bytes: Buffer, stop: AbortSignal): Promise<SentPart>;
  /** Puts the object. @throws {StoreError} if it is not there then with this size */
  complete(id: string, parts: readonly SentPart[], sum: FileSum): Promise<void>;
  /** Removes the parts. Ignores a missing upload. */
  abort(id: string): Promise<void>;
}

/** Puts a local file in parts; complete parts can be sent before the file is complete. */
export class MultipartUpload implements GrowingUpload {
  readonly #requests: PartRequests;
  readonly #path: string;
  /** Limits the memory of all uploads: a part is read when its turn comes. */
  readonly #queue: PQueue;
  readonly #hash = createHash('sha256');
  readonly #parts: Promise<SentPart>[] = [];
  /** Settles when the parts so far are read, in order, for the checksum. */
  #read: Promise<unknown> = Promise.resolve();
  #file: Promise<FileHandle> | undefined;
  #id: Promise<string> | undefined;
  #planned = 0;
  /** Aborted when nothing more is to be sent, with the first error if there is one. */
  readonly #stop = new AbortController();
  readonly #stopped = rejected(this.#stop.signal);

  constructor(requests: PartRequests, path: string, queue: PQueue) {
    this.#requests = requests;
    this.#path = path;
    this.#queue = queue;
  }

  grow(bytes: number): void {
    while (!this.#stop.signal.aborted && bytes - this.#planned >= PART_BYTES) this.#plan(PART_BYTES);
  }

  async complete(sum: FileSum): Promise<void> {
    this.grow(sum.bytes);
    if (sum.bytes > this.#planned) this.#plan(sum.bytes - this.#planned);
    const parts = await Promise.all(this.#parts);
    if (this.#planned !== sum.bytes || this.#hash.digest('hex') !== sum.sha256) throw changed(this.#path);
    await this.#requests.complete(await this.#begun(), parts, sum);
    await this.#close();
  }

  async abort(): Promise<void> {
    // First, because a store may retain a part that arrives after the abort.
    this.#stop.abort();
    await Promise.allSettled(this.#parts);
    await this.#close();
    const id = await this.#id?.catch(() => undefined);
    // Leftovers are aborted later, by age.
    if (id !== undefined) await this.#requests.abort(id).catch(() => {});
  }

  #plan(length: number): void {
    const [from, number] = [this.#planned, this.#parts.length + 1];
    this.#planned += length;
    const part = this.#queue.add(() => this.#send(number, from, length));
    // Stops the other parts; `complete` throws the error.
    part.catch((error: unknown) => this.#stop.abort(error));
    this.#parts.push(part);
  }

  /** The queue starts parts in order. */
  async #send(number: number, from: number, length: number): Promise<SentPart> {
    const read = this.#read.then(() => this.#readPart(from, length));
    this.#read = read;
    const bytes = await read;
    const id = await this.#begun();
    // Between two attempts, a request ignores the signal.
    return Promise.race([this.#stopped, this.#requests.send(id, number, bytes, this.#stop.signal)]);
  }

  async #readPart(from: number, length: number): Promise<Buffer> {
    this.#stop.signal.throwIfAborted();
    this.#file ??= open(this.#path, 'r');
    const part = Buffer.allocUnsafe(length);
    const { bytesRead } = await (await this.#file).read(part, 0, length, from);
    if (bytesRead < length) throw changed(this.#path);
    this.#hash.update(part);
    return part;
  }

  #begun(): Promise<string> {
    this.#id ??= this.#requests.begin();
    return this.#id;
  }

  async #close(): Promise<void> {
    const file = await this.#file?.catch(() => undefined);
    this.#file = undefined;
    await file?.close();
  }
}

/** Rejects with the reason of a signal when it aborts. */
function rejected(signal: AbortSignal): Promise<never> {
  const promise = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  promise.catch(() => {});
  return promise;
}

/** The error for a file that does not match its checksum. */
export function changed(path: string): StoreError {
  return new StoreError(`store: staged file ${path} changed while it was uploaded`, { code: 'damaged' });
}
