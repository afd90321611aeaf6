import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type {
  GetObjectCommandOutput,
  ListObjectsV2CommandInput,
  ListObjectsV2CommandOutput,
  PutObjectCommandInput,
  S3Client,
} from '@aws-sdk/client-s3';
import PQueue from 'p-queue';
import { StoreError } from '../core/errors.ts';
import { sha256Of } from '../core/sha256.ts';
import { changed, MultipartUpload, type PartRequests } from './multipart-upload.ts';
import { sumObject } from './object-files.ts';
import type { FileSum, GrowingUpload, ObjectEntry, ObjectStore } from './object-store.ts';
import { s3Client, s3Sdk } from './s3-client.ts';
import { objectFailure, statusOf } from './s3-failure.ts';
import { formatLocation, parseLocation, type S3Location } from './s3-location.ts';

/** Maximum size of a file that is put by one request, in bytes. Larger ones are sent in parts. */
const PUT_BYTES = 16 * 2 ** 20;
/** Parts that are sent concurrently, of all uploads; each is in memory. */
const PARTS_AT_ONCE = 6;
/** Attempts of a conditional put that collides with another one, and the pause between them. */
const CONFLICTS = 20;
const CONFLICT_MS = 50;
/** Attempts to read an object whose response ends early. */
const READS = 4;
/** Maximum number of keys in a delete request. */
const DELETE_KEYS = 1000;

/** Opens a location of an object store that speaks S3. Nothing is sent yet. @throws {UsageError} */
export function openS3Store(url: string): ObjectStore {
  return new S3Store(parseLocation(url), s3Client());
}

class S3Store implements ObjectStore {
  readonly url: string;
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #base: string;
  readonly #parts = new PQueue({ concurrency: PARTS_AT_ONCE });

  constructor(location: S3Location, client: S3Client) {
    this.url = formatLocation(location);
    this.#client = client;
    this.#bucket = location.bucket;
    this.#base = location.prefix === '' ? '' : `${location.prefix}/`;
  }

  async list(prefix: string, after?: string): Promise<readonly ObjectEntry[]> {
    const objects: ObjectEntry[] = [];
    for await (const { Contents = [] } of this.#pages(prefix, { StartAfter: after && this.#base + after })) {
      for (const { Key = '', Size = 0, LastModified } of Contents) {
        objects.push({ key: Key.slice(this.#base.length), bytes: Size, putAt: LastModified?.getTime() ?? 0 });
      }
    }
    return objects;
  }

  async names(folder: string, after?: string): Promise<readonly string[]> {
    const start = `${folder}/`;
    const found = await this.list(start, after === undefined ? undefined : start + after);
    return found.map(({ key }) => key.slice(start.length));
  }

  async folders(folder: string): Promise<readonly string[]> {
    const names: string[] = [];
    const start = this.#base + folder;
    for await (const { CommonPrefixes = [] } of this.#pages(folder, { Delimiter: '/' })) {
      names.push(...CommonPrefixes.map(({ Prefix = '' }) => Prefix.slice(start.length, -1)));
    }
    return names;
  }

  async *#pages(prefix: string, more: Pick<ListObjectsV2CommandInput, 'StartAfter' | 'Delimiter'>) {
    const { ListObjectsV2Command } = s3Sdk();
    const of = { Bucket: this.#bucket, Prefix: this.#base + prefix, ...more };
    let token: string | undefined;
    do {
      const command = new ListObjectsV2Command({ ...of, ContinuationToken: token });
      const page: ListObjectsV2CommandOutput = await this.#send(`list ${prefix}`, () => this.#client.send(command));
      yield page;
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
  }

  get(key: string): Promise<Uint8Array | undefined> {
    return this.#read(key, async (body) => body.transformToByteArray());
  }

  async head(key: string) {
    const { HeadObjectCommand } = s3Sdk();
    return this.#send(`head ${key}`, () =>
      ifFound(async () => {
        const found = await this.#client.send(new HeadObjectCommand(this.#at(key)));
        return { bytes: found.ContentLength ?? 0, sha256: found.Metadata?.['sha256'] };
      }),
    );
  }

  async read(key: string, begin: Parameters<ObjectStore['read']>[1]): Promise<boolean> {
    const found = await this.#read(key, async (body) => {
      const take = await begin();
      // In Node, it is a Readable.
      for await (const bytes of body as unknown as AsyncIterable<Uint8Array>) await take(bytes);
      return true;
    });
    return found === true;
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    await this.#put(key, bytes, {});
  }

  async putOrGet(key: string, bytes: Uint8Array): Promise<Uint8Array | undefined> {
    for (let attempt = 1; ; attempt++) {
      if (await this.#put(key, bytes, { IfNoneMatch: '*' }, [409, 412])) return undefined;
      // An attempt whose response was lost may have put it; after 409, the winner is unknown.
      const existing = await this.get(key);
      if (existing !== undefined) return Buffer.compare(existing, bytes) === 0 ? undefined : existing;
      if (attempt === CONFLICTS) throw incomplete(this.url, key, 'neither puts the object nor shows another one');
      await delay(CONFLICT_MS);
    }
  }

  async putInPlaceOf(key: string, before: Uint8Array, bytes: Uint8Array): Promise<boolean> {
    const { GetObjectCommand } = s3Sdk();
    const get = () => this.#client.send(new GetObjectCommand(this.#at(key)));
    const found = await this.#send(`get ${key}`, async () => {
      const response = await ifFound(get);
      return response?.Body && { etag: response.ETag, bytes: await response.Body.transformToByteArray() };
    });
    if (found === undefined || Buffer.compare(found.bytes, before) !== 0) return false;
    const isPut = await this.#put(key, bytes, { IfMatch: found.etag }, [404, 409, 412]);
    // An attempt whose response was lost may have put it.
    return isPut || Buffer.compare((await this.get(key)) ?? Buffer.alloc(0), bytes) === 0;
  }

  async upload(key: string, path: string, sum: FileSum): Promise<void> {
    if (sum.bytes <= PUT_BYTES) return this.#putFile(key, path, sum);
    const upload = new MultipartUpload(this.#partRequests(key, sum.sha256), path, this.#parts);
    try {
      await upload.complete(sum);
    } catch (error) {
      await upload.abort();
      throw error;
    }
  }

  async copy(from: string, to: string): Promise<void> {
    const { CopyObjectCommand } = s3Sdk();
    const CopySource = [this.#bucket, ...(this.#base + from).split('/')].map(encodeURIComponent).join('/');
    const command = new CopyObjectCommand({ ...this.#at(to), CopySource });
    await this.#send(`put ${to}`, () => this.#client.send(command));
  }

  uploadGrowing(key: string, path: string): GrowingUpload {
    return new MultipartUpload(this.#partRequests(key), path, this.#parts);
  }

  async #putFile(key: string, path: string, { bytes, sha256 }: FileSum): Promise<void> {
    const content = await readFile(path);
    if (content.length !== bytes || sha256Of(content) !== sha256) throw changed(path);
    await this.#put(key, content, { Metadata: { sha256 } });
  }

  /** @returns false if the response has one of the statuses in `refusals` */
  #put(
    key: string,
    bytes: Uint8Array,
    more: Pick<PutObjectCommandInput, 'IfMatch' | 'IfNoneMatch' | 'Metadata'>,
    refusals: readonly number[] = [],
  ): Promise<boolean> {
    const { PutObjectCommand } = s3Sdk();
    const command = new PutObjectCommand({ ...this.#body(key, bytes), ...more });
    return this.#send(`put ${key}`, async () => {
      try {
        await this.#client.send(command);
        return true;
      } catch (error) {
        if (refusals.includes(statusOf(error) ?? 0)) return false;
        throw error;
      }
    });
  }

  /** @param sha256 of the file, if it is known at the start: metadata cannot be added later */
  #partRequests(key: string, sha256?: string): PartRequests {
    const sdk = s3Sdk();
    const target = this.#at(key);
    const send = <T>(work: () => Promise<T>): Promise<T> => this.#send(`put ${key}`, work);
    return {
      begin: async () => {
        const metadata = sha256 === undefined ? {} : { Metadata: { sha256 } };
        const command = new sdk.CreateMultipartUploadCommand({ ...target, ...metadata });
        const { UploadId } = await send(() => this.#client.send(command));
        if (UploadId === undefined) throw incomplete(this.url, key, 'began an upload without an id');
        return UploadId;
      },
      send: async (UploadId, PartNumber, bytes, abortSignal) => {
        const command = new sdk.UploadPartCommand({ ...this.#body(key, bytes), UploadId, PartNumber });
        const { ETag } = await send(() => this.#client.send(command, { abortSignal }));
        return { PartNumber, ETag };
      },
      complete: async (UploadId, Parts, sum) => {
        const MultipartUpload = { Parts: [...Parts] };
        const command = new sdk.CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload });
        const isDone = await send(() => ifFound(() => this.#client.send(command)));
        await this.#requireStored(key, sum, isDone === undefined);
      },
      abort: async (UploadId) => {
        const command = new sdk.AbortMultipartUploadCommand({ ...target, UploadId });
        await send(() => ifFound(() => this.#client.send(command)));
      },
    };
  }

  /** @param isLost true if the upload is gone: its response was lost, or the store has dropped it */
  async #requireStored(key: string, sum: FileSum, isLost: boolean): Promise<void> {
    const stored = await this.head(key);
    if (stored?.bytes !== sum.bytes)
      throw incomplete(this.url, key, `put ${stored?.bytes ?? 'none'} of ${sum.bytes} bytes`);
    if (!isLost) return;
    const sha256 = stored.sha256 ?? (await sumObject(this, key))?.sha256;
    if (sha256 !== sum.sha256) throw incomplete(this.url, key, 'has other bytes under this name');
  }

  async remove(keys: readonly string[]): Promise<void> {
    const { DeleteObjectsCommand } = s3Sdk();
    for (let at = 0; at < keys.length; at += DELETE_KEYS) {
      const Objects = keys.slice(at, at + DELETE_KEYS).map((key) => ({ Key: this.#base + key }));
      const { Errors = [] } = await this.#send('delete', () =>
        this.#client.send(new DeleteObjectsCommand({ Bucket: this.#bucket, Delete: { Objects, Quiet: true } })),
      );
      const [failed] = Errors.filter(({ Code }) => Code !== 'NoSuchKey');
      if (failed !== undefined)
        throw objectFailure({ name: failed.Code, message: failed.Message }, `${this.url}: delete`);
    }
  }

  async abortUploads(prefix: string, before: number): Promise<number> {
    const { AbortMultipartUploadCommand, ListMultipartUploadsCommand } = s3Sdk();
    let count = 0;
    let markers: { KeyMarker?: string; UploadIdMarker?: string } | undefined = {};
    while (markers !== undefined) {
      const command: InstanceType<typeof ListMultipartUploadsCommand> = new ListMultipartUploadsCommand({
        Bucket: this.#bucket,
        Prefix: this.#base + prefix,
        ...markers,
      });
      const page = await this.#send('list uploads', () => this.#client.send(command));
      const old = (page.Uploads ?? []).filter(({ Initiated }) => (Initiated?.getTime() ?? before) < before);
      for (const { Key, UploadId } of old) {
        const abort = new AbortMultipartUploadCommand({ Bucket: this.#bucket, Key, UploadId });
        await this.#send('abort upload', () => ifFound(() => this.#client.send(abort)));
        count++;
      }
      const { IsTruncated, NextKeyMarker: KeyMarker = '', NextUploadIdMarker: UploadIdMarker = '' } = page;
      markers = IsTruncated === true ? { KeyMarker, UploadIdMarker } : undefined;
    }
    return count;
  }

  #at(key: string) {
    return { Bucket: this.#bucket, Key: this.#base + key };
  }

  /** A request with a body: a buffer, because a stream cannot be sent again after a failure. */
  #body(key: string, bytes: Uint8Array) {
    return {
      ...this.#at(key),
      Body: bytes,
      ContentMD5: createHash('md5').update(bytes).digest('base64'),
    };
  }

  /**
   * Reads the body of an object, and retries if it ends early: the SDK does not, once the response has begun.
   * @returns undefined if there is none
   */
  async #read<T>(
    key: string,
    use: (body: NonNullable<GetObjectCommandOutput['Body']>) => Promise<T>,
  ): Promise<T | undefined> {
    const { GetObjectCommand } = s3Sdk();
    const what = `get ${key}`;
    for (let attempt = 1; ; attempt++) {
      const found = await this.#send(what, () => ifFound(() => this.#client.send(new GetObjectCommand(this.#at(key)))));
      const body = found?.Body;
      if (body === undefined) return undefined;
      try {
        return await this.#send(what, () => use(body));
      } catch (error) {
        if (!(error instanceof StoreError && error.retryable) || attempt === READS) throw error;
        await delay(CONFLICT_MS * attempt);
      }
    }
  }

  async #send<T>(what: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw objectFailure(error, `${this.url}: ${what}`);
    }
  }
}

/** Undefined if there is no such object. */
async function ifFound<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    const { name } = error as { name?: string };
    if (name === 'NoSuchKey' || name === 'NotFound' || name === 'NoSuchUpload') return undefined;
    throw error;
  }
}

function incomplete(url: string, key: string, what: string): StoreError {
  return new StoreError(`store: ${url}: put ${key}: the store ${what}`, {
    code: 'store-busy',
    retryable: true,
    hint: 'run the same command again later; committed data is safe',
  });
}
