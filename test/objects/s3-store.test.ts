import { mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sha256Of } from '../../src/core/sha256.ts';
import { downloadObject, sumObject } from '../../src/objects/object-files.ts';
import type { ObjectStore } from '../../src/objects/object-store.ts';
import { openS3Store } from '../../src/objects/s3-store.ts';
import { freshFolder } from '../scratch.ts';
import { S3_PROGRAM, type S3Fault, type S3Passing, type S3Relay, type S3Server, startRelayedS3 } from './s3-server.ts';

const WAIT = { timeout: 120_000 };

describe.skipIf(S3_PROGRAM === undefined)('an S3 store (skipped without versitygw)', () => {
  let server: S3Server;
  let relay: S3Relay;
  let store: ObjectStore;
  let at = 0;

  beforeAll(async () => {
    ({ server, relay } = await startRelayedS3());
  });

  beforeEach(() => {
    relay.fault = undefined;
    relay.requests.length = 0;
    at += 1;
    store = openS3Store(`s3://lake/t${at}/`);
  });

  const bytes = (text: string): Buffer => Buffer.from(text);

  /** A file with random bytes. */
  function makeFile(size: number) {
    const content = Buffer.alloc(size);
    for (let i = 0; i + 4 <= size; i += 4) content.writeUInt32LE((i * 2654435761) >>> 0, i);
    const path = join(freshFolder(), 'file');
    writeFileSync(path, content);
    return { path, sum: { bytes: size, sha256: sha256Of(content) } };
  }

  /** Fails the first `times` requests of a kind. */
  function failFirst(times: number, method: string, fault: Awaited<ReturnType<NonNullable<S3Relay['fault']>>>): void {
    let left = times;
    relay.fault = (passing) => (passing.method === method && left-- > 0 ? fault : 'pass');
  }

  test('objects are listed in the order of their keys, below the location alone', async () => {
    await openS3Store('s3://lake/other').put('a/0', bytes('other'));
    for (const key of ['b/1', 'a/2', 'a/1', 'a/10']) await store.put(key, bytes(key));
    const keys = async (...args: Parameters<ObjectStore['list']>) => (await store.list(...args)).map(({ key }) => key);
    expect(await keys('a/')).toEqual(['a/1', 'a/10', 'a/2']);
    expect(await keys('a/', 'a/1')).toEqual(['a/10', 'a/2']);
    expect(await keys('')).toHaveLength(4);
    expect(await keys('none/')).toEqual([]);
  });

  test('what is not there is undefined, and removing it does no harm', async () => {
    expect(await store.get('none')).toBeUndefined();
    expect(await store.head('none')).toBeUndefined();
    expect(await sumObject(store, 'none')).toBeUndefined();
    expect(await downloadObject(store, 'none', join(freshFolder(), 'x'))).toBeUndefined();
    await store.remove(['none', 'neither']);
  });

  const putIfAbsent = async (...[to, key, own]: [ObjectStore, string, Uint8Array]): Promise<boolean> =>
    (await to.putOrGet(key, own)) === undefined;

  test('of many puts of one key if it is absent, one wins', async () => {
    const won = await Promise.all(Array.from({ length: 12 }, (_, i) => putIfAbsent(store, 'n', bytes(`by ${i}`))));
    expect(won.filter(Boolean)).toHaveLength(1);
    expect(String(Buffer.from((await store.get('n')) ?? []))).toBe(`by ${won.indexOf(true)}`);
  });

  test('a put whose answer is lost has won, unless another one was there', async () => {
    failFirst(1, 'PUT', 'lose');
    expect(await putIfAbsent(store, 'n', bytes('mine'))).toBe(true);
    failFirst(1, 'PUT', 'lose');
    expect(await putIfAbsent(store, 'n', bytes('yours'))).toBe(false);
    expect(relay.requests.filter(({ method }) => method === 'PUT')).toHaveLength(4);
  });

  test('a put in the place of other bytes replaces no others, also if its answer is lost', async () => {
    await store.put('n', bytes('broken'));
    expect(await store.putInPlaceOf('n', bytes('other'), bytes('mine'))).toBe(false);
    failFirst(1, 'PUT', 'lose');
    expect(await store.putInPlaceOf('n', bytes('broken'), bytes('mine'))).toBe(true);
    let isFirst = true;
    relay.fault = async ({ method }): Promise<S3Fault> => {
      if (method !== 'PUT' || !isFirst) return 'pass';
      isFirst = false;
      await store.put('n', bytes('theirs'));
      return 'pass';
    };
    expect(await store.putInPlaceOf('n', bytes('mine'), bytes('mine again'))).toBe(false);
    expect(String(Buffer.from((await store.get('n')) ?? []))).toBe('theirs');
    expect(await store.putInPlaceOf('absent', bytes('mine'), bytes('mine again'))).toBe(false);
  });

  test('a put that collides with another one is settled by what is there', async () => {
    const conflict = { status: 409, code: 'ConditionalRequestConflict' };
    failFirst(2, 'PUT', conflict);
    expect(await putIfAbsent(store, 'n', bytes('mine'))).toBe(true);
    relay.fault = ({ method }) => (method === 'PUT' ? conflict : 'pass');
    expect(await putIfAbsent(store, 'n', bytes('yours'))).toBe(false);
  });

  test.each([
    ['503 SlowDown', { status: 503, code: 'SlowDown' }],
    ['500 InternalError', { status: 500, code: 'InternalError' }],
    ['a reset', 'reset'],
    ['a lost answer', 'lose'],
  ] as const)('%s is tried again', async (_, fault) => {
    for (const method of ['PUT', 'GET', 'HEAD']) {
      failFirst(1, method, fault);
      await store.put('k', bytes('value'));
      expect(String(Buffer.from((await store.get('k')) ?? []))).toBe('value');
      expect((await store.head('k'))?.bytes).toBe(5);
    }
  });

  test('an object whose bytes stop coming is read anew', async () => {
    const { path, sum } = makeFile(3_000_000);
    await store.upload('f', path, sum);
    failFirst(2, 'GET', 'cut');
    expect(await sumObject(store, 'f')).toEqual(sum);
    failFirst(2, 'GET', 'cut');
    expect(await downloadObject(store, 'f', join(freshFolder(), 'copy'))).toEqual(sum);
    failFirst(1, 'GET', 'cut');
    expect((await store.get('f'))?.length).toBe(3_000_000);
  });

  test('a read that fails again and again is given up after eight attempts', async () => {
    await store.put('k', bytes('v'));
    relay.requests.length = 0;
    relay.fault = () => 'reset';
    await expect(store.get('k')).rejects.toMatchObject({ code: 'connection-lost', retryable: true });
    expect(relay.requests).toHaveLength(8);
  });

  test('a large file goes in parts, and is whole however the store fails', async () => {
    const { path, sum } = makeFile(40_000_000);
    relay.fault = ({ method, number }) =>
      method === 'GET' ? 'pass' : number % 4 === 2 ? 'lose' : number % 4 === 3 ? 'reset' : 'pass';
    await store.upload('f', path, sum);
    relay.fault = undefined;
    expect(await sumObject(store, 'f')).toEqual(sum);
    expect(await store.head('f')).toEqual(sum);
    expect(relay.requests.filter(({ path: asked }) => /partNumber=/.test(asked)).length).toBeGreaterThanOrEqual(3);
  });

  test('a file that is not the one that was measured is not put, and its parts are removed', async () => {
    for (const size of [1000, 20_000_000]) {
      const { path } = makeFile(size);
      const sum = { bytes: size, sha256: '0'.repeat(64) };
      await expect(store.upload('f', path, sum)).rejects.toMatchObject({ code: 'damaged' });
      expect(await store.head('f')).toBeUndefined();
      expect(await store.abortUploads('', Date.now() + 86_400_000)).toBe(0);
    }
  });

  describe('a file that is put while it grows', () => {
    const isPart = ({ path }: Pick<S3Passing, 'path'>) => path.includes('partNumber=');
    const isCompletion = ({ method, path }: S3Passing) => method === 'POST' && path.includes('uploadId=');
    const sentParts = () => relay.requests.filter(isPart).length;
    const uploadsLeft = () => store.abortUploads('', Date.now() + 86_400_000);

    /** Begins to put a file of which only the first bytes are there. */
    function beginGrowing(size: number, written: number) {
      const { path, sum } = makeFile(size);
      const content = readFileSync(path);
      truncateSync(path, written);
      const upload = store.uploadGrowing('f', path);
      upload.grow(written);
      return { upload, sum, path, content };
    }

    test('leaves in whole parts before it is complete, and is an object only then', async () => {
      const { upload, sum, path, content } = beginGrowing(27_000_000, 20_000_000);
      await expect.poll(sentParts, WAIT).toBe(2);
      expect(await store.head('f')).toBeUndefined();
      writeFileSync(path, content);
      await upload.complete(sum);
      expect(sentParts()).toBe(4);
      expect(await sumObject(store, 'f')).toEqual(sum);
      expect(await uploadsLeft()).toBe(0);
    });

    test.each([
      ['lost answers of parts', isPart, 'lose'],
      ['a lost answer of the completion', isCompletion, 'lose'],
      ['a completion that succeeds with an error in its body', isCompletion, { status: 200, code: 'InternalError' }],
      ['a lost answer of the beginning', ({ path }: S3Passing) => path.includes('uploads='), 'lose'],
    ] as const)('is whole after %s', async (_, isHit, fault) => {
      const { upload, sum, path, content } = beginGrowing(17_000_000, 9_000_000);
      let hits = 0;
      relay.fault = (passing) => (isHit(passing) && hits++ < 2 ? fault : 'pass');
      writeFileSync(path, content);
      await upload.complete(sum);
      relay.fault = undefined;
      expect(hits).toBeGreaterThan(1);
      expect(await sumObject(store, 'f')).toEqual(sum);
    });

    test('is refused if a part that is in the store is not the one that was measured', async () => {
      const { upload, sum, path, content } = beginGrowing(17_000_000, 9_000_000);
      await expect.poll(sentParts, WAIT).toBe(1);
      const other = Buffer.from(content);
      other.writeUInt8(other.readUInt8(5) ^ 1, 5);
      writeFileSync(path, other);
      await expect(upload.complete({ ...sum, sha256: sha256Of(other) })).rejects.toMatchObject({ code: 'damaged' });
      await upload.abort();
      expect(await store.head('f')).toBeUndefined();
      expect(await uploadsLeft()).toBe(0);
    });

    test('is refused if the store has forgotten the upload, and another object has its name', async () => {
      const { upload, sum, path, content } = beginGrowing(17_000_000, 9_000_000);
      await expect.poll(sentParts, WAIT).toBe(1);
      writeFileSync(path, content);
      const forgotten = { status: 404, code: 'NoSuchUpload' };
      relay.fault = (passing) => (isCompletion(passing) ? forgotten : 'pass');
      const other = Buffer.from(content);
      other.writeUInt8(other.readUInt8(5) ^ 1, 5);
      await store.put('f', other);
      await expect(upload.complete(sum)).rejects.toMatchObject({ code: 'store-busy' });
      await upload.abort();
      expect(await uploadsLeft()).toBe(0);
    });

    test('is refused if the store has put fewer bytes than it says', async () => {
      const { upload, sum, path, content } = beginGrowing(17_000_000, 9_000_000);
      writeFileSync(path, content);
      await store.put('f', bytes('short'));
      relay.fault = (passing) => (isCompletion(passing) ? { status: 404, code: 'NoSuchUpload' } : 'pass');
      await expect(upload.complete(sum)).rejects.toThrow(/put 5 of 17000000 bytes/);
      await upload.abort();
    });

    test('leaves nothing if it is aborted while parts are on their way', async () => {
      const { upload } = beginGrowing(27_000_000, 27_000_000);
      await upload.abort();
      upload.grow(27_000_000);
      expect(await uploadsLeft()).toBe(0);
      expect(await store.head('f')).toBeUndefined();
    });

    test('is aborted at once, however long the store takes for parts on their way', async () => {
      const held: (() => void)[] = [];
      relay.fault = (passing) =>
        isPart(passing) ? new Promise((resolve) => held.push(() => resolve('reset'))) : 'pass';
      const { upload } = beginGrowing(27_000_000, 27_000_000);
      await expect.poll(() => held.length, WAIT).toBe(3);
      await upload.abort();
      expect(held.length).toBe(3);
      expect(await uploadsLeft()).toBe(0);
      for (const release of held) release();
    });

    test('tells why a part failed, not that the others were given up', async () => {
      relay.fault = (passing) =>
        passing.path.includes('partNumber=3')
          ? { status: 403, code: 'AccessDenied' }
          : isPart(passing)
            ? new Promise(() => {})
            : 'pass';
      const { upload, sum } = beginGrowing(27_000_000, 27_000_000);
      await expect.poll(sentParts, WAIT).toBe(3);
      await expect(upload.complete(sum)).rejects.toMatchObject({ code: 'denied' });
      await upload.abort();
    });
  });

  test('a listing of more objects or folders than fit in an answer goes on after them', async () => {
    const names = Array.from({ length: 1005 }, (_, n) => String(n).padStart(4, '0'));
    for (const name of names) {
      mkdirSync(join(server.folder, `lake/t${at}/many`, name), { recursive: true });
      writeFileSync(join(server.folder, `lake/t${at}/many`, name, 'k'), 'v');
    }
    expect((await store.list('many/')).map(({ key }) => key)).toEqual(names.map((name) => `many/${name}/k`));
    expect(await store.list('many/', 'many/0999/k')).toHaveLength(5);
    expect(await store.folders('many/')).toEqual(names);
    expect(relay.requests).toHaveLength(5);
  });

  test('uploads that nobody completed are ended by their age', async () => {
    const { path, sum } = makeFile(20_000_000);
    relay.fault = ({ method, path: asked }) =>
      method === 'DELETE' || asked.includes('partNumber=2') ? { status: 403, code: 'AccessDenied' } : 'pass';
    await expect(store.upload('f', path, sum)).rejects.toMatchObject({ code: 'denied' });
    relay.fault = undefined;
    expect(await store.abortUploads('', Date.now() - 3_600_000)).toBe(0);
    expect(await store.abortUploads('', Date.now() + 3_600_000)).toBe(1);
    expect(await store.abortUploads('', Date.now() + 3_600_000)).toBe(0);
    expect(readdirSync(join(server.folder, 'lake'))).not.toContain('f');
  });

  test.each([
    ['no-bucket', 404, 'NoSuchBucket'],
    ['denied', 403, 'AccessDenied'],
    ['bad-credentials', 403, 'InvalidAccessKeyId'],
    ['bad-credentials', 403, 'SignatureDoesNotMatch'],
    ['expired-credentials', 400, 'ExpiredToken'],
    ['clock-skew', 403, 'RequestTimeTooSkewed'],
    ['wrong-region', 301, 'PermanentRedirect'],
  ])('is %s after %i %s, in one line with a hint', async (code, status, name) => {
    relay.fault = () => ({ status, code: name });
    const failure = await store.put('k', bytes('v')).catch((error: unknown) => error);
    expect(failure).toMatchObject({ stage: 'store', code, retryable: false });
    const { message, hint, cause } = failure as Error & { hint: string };
    expect(message).not.toContain('\n');
    expect(hint).not.toBe('');
    expect(JSON.stringify([message, hint, String(cause), { ...(cause as object) }])).not.toContain('lakelake1');
  });
});
