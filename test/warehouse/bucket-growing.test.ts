import { createCipheriv } from 'node:crypto';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { hashFile } from '../../src/files/disk.ts';
import type { ObjectStore } from '../../src/objects/object-store.ts';
import { openS3Store } from '../../src/objects/s3-store.ts';
import type { Stage, Store } from '../../src/warehouse/index.ts';
import { HAS_BUCKETS, type S3Relay, type S3Server, startRelayedS3 } from '../objects/s3-server.ts';
import { makeBatchOf } from './batches.ts';
import { itemRows, items } from './tables.ts';
import { clockAt, commitItems, countItems, draftOf, filesOf, openTestStore, withStore } from './warehouses.ts';

const ROW_BYTES = 250_000;
const HOUR_MS = 3_600_000;
const WAIT = { timeout: 120_000 };

describe.skipIf(!HAS_BUCKETS)('files that are put while they grow (skipped without versitygw)', () => {
  let server: S3Server;
  let relay: S3Relay;
  let at = 0;
  let path: string;
  let folder: string;
  let objects: ObjectStore;
  let store: Store;

  beforeAll(async () => {
    ({ server, relay } = await startRelayedS3());
  });

  beforeEach(() => {
    relay.requests.length = 0;
    at++;
    path = `s3://lake/g${at}`;
    folder = join(server.folder, `lake/g${at}`);
    objects = openS3Store(path);
  });

  const noise = createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16))
    .update(Buffer.alloc(100 * ROW_BYTES))
    .toString('base64');

  /** Rows that zstd makes little smaller. */
  const largeItems = (from: number, to: number) =>
    makeBatchOf(
      items,
      itemRows(from, to).map((row, n) => ({ ...row, comment: noise.slice(n * ROW_BYTES, (n + 1) * ROW_BYTES) })),
    );

  const addItems = async (stage: Stage, from: number, to: number): Promise<void> => {
    const { growing } = await stage.write(largeItems(from, to), true);
    await stage.grow(growing);
  };

  const sentParts = () => relay.requests.filter(({ path: asked }) => asked.includes('partNumber=')).length;
  const filesThere = async () => (await objects.list('tables/')).map(({ key }) => key);
  const entriesThere = async () => (await objects.list('_ledger/0')).map(({ key }) => key);
  const uploadsLeft = () => objects.abortUploads('', Date.now() + 86_400_000);

  /** A commit of two parts, of which the first one is in the store in part. */
  async function begin(effects = realEffects): Promise<Stage> {
    store = await openTestStore(path, { effects });
    const stage = store.stage({ from: 1, to: 96 });
    await addItems(stage, 1, 96);
    expect(sentParts()).toBe(0);
    await addItems(stage, 97, 140);
    await expect.poll(sentParts, WAIT).toBe(2);
    return stage;
  }

  const commit = async (stage: Stage) =>
    store.commit(await stage.finish({ span: { from: 1, to: 140 } }), draftOf({ from: 1, to: 140 }));

  async function expectWhole(): Promise<void> {
    expect(await countItems(store)).toEqual({ rows: 140, distinct: 140, parts: 0 });
    const named = filesOf(store.ledger());
    expect(await filesThere()).toEqual(named.map((file) => file.path));
    for (const file of named) expect(await hashFile(join(folder, file.path))).toBe(file.sha256);
    await store.close();
    // A part under way can outlive its upload's end; what collects garbage ends that again.
    await expect.poll(uploadsLeft, WAIT).toBe(0);
  }

  test('are objects only at the commit, and the entry comes last', async () => {
    const stage = await begin();
    expect([await filesThere(), await entriesThere()]).toEqual([[], []]);
    relay.requests.length = 0;
    const entry = await commit(stage);
    expect(sentParts()).toBe(2);
    const puts = relay.requests.filter(({ method }) => method === 'PUT' || method === 'POST').map((each) => each.path);
    const completed = puts.findIndex((asked) => /uploadId=/.test(asked) && !asked.includes('partNumber='));
    expect(completed).toBeGreaterThan(-1);
    expect(puts.findIndex((asked) => asked.includes('/_ledger/0'))).toBeGreaterThan(completed);
    expect(entry.span).toEqual({ from: 1, to: 140 });
    // The last block was not known when it began.
    expect(await filesThere()).toEqual([expect.stringMatching(/block_date=2026-05-01\/1-96-[0-9a-f]{12}\.parquet$/)]);
    await expectWhole();
  });

  test('leave nothing if their commit is given up', async () => {
    const stage = await begin();
    await stage.discard();
    expect([await uploadsLeft(), await filesThere()]).toEqual([0, []]);
    await store.close();
  });

  test('leave nothing if the writer ends without a commit', async () => {
    await begin();
    await store.close();
    expect([await uploadsLeft(), await filesThere(), await entriesThere()]).toEqual([0, [], []]);
  });

  test('are put in another form if their rows turn out to be unordered', async () => {
    const stage = await begin();
    const [first, second] = [largeItems(142, 142), largeItems(141, 141)];
    for (const batch of [first, second]) await stage.grow((await stage.write(batch)).growing);
    expect(await uploadsLeft()).toBe(0);
    await store.commit(await stage.finish({ span: { from: 1, to: 142 } }), draftOf({ from: 1, to: 142 }));
    expect(await filesThere()).toEqual([expect.stringMatching(/\/1-142-[0-9a-f]{12}\.parquet$/)]);
    expect(await countItems(store)).toMatchObject({ rows: 142 });
    await store.close();
  });

  test('are put anew if the store forgets the upload', async () => {
    const stage = await begin();
    expect(await uploadsLeft()).toBe(1);
    await commit(stage);
    await expectWhole();
  });

  test('are put anew if their upload is so old that garbage collection may take them', async () => {
    const clock = { ...clockAt(Date.now()), ahead: 0 };
    const stage = await begin({ ...clock, monotonic: () => realEffects.monotonic() + clock.ahead });
    clock.ahead = HOUR_MS;
    relay.requests.length = 0;
    await commit(stage);
    expect(relay.requests.filter(({ path: asked }) => asked.includes('partNumber=1&'))).toHaveLength(1);
    await expectWhole();
  });

  test('are dropped if another writer commits the same blocks first', async () => {
    const stage = await begin();
    const { tables } = await withStore(path, (store) => commitItems(store, 50, 60));
    await expect(commit(stage)).rejects.toMatchObject({ code: 'committed-meanwhile' });
    const named = Object.values(tables).flatMap(({ files }) => files.map((file) => file.path));
    expect((await filesThere()).sort()).toEqual(named.sort());
    await store.close();
    expect(await uploadsLeft()).toBe(0);
  });
});
