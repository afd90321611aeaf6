import { readdirSync, readFileSync, rmSync, statSync, truncateSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import type { WarehouseObjects } from '../../src/objects/object-store.ts';
import { Database } from '../../src/sql/database.ts';
import { bucketBackend } from '../../src/warehouse/bucket-store/bucket-backend.ts';
import { LedgerFolder } from '../../src/warehouse/ledger/ledger-folder.ts';
import { openDamagedFiles } from '../../src/warehouse/parquet-store/damaged-files.ts';
import {
  EXTENSIONS,
  HAS_BUCKETS,
  type S3Fault,
  type S3Relay,
  type S3Server,
  startRelayedS3,
} from '../objects/s3-server.ts';
import { freshFolder } from '../scratch.ts';
import { items, parts } from './tables.ts';
import {
  addItems,
  clockAt,
  commitItems,
  countItems,
  draftOf,
  listAll,
  listFiles,
  openTestReader,
  openTestStore,
  stageItems,
  tens,
  withStore,
} from './warehouses.ts';

const DAY_MS = 86_400_000;

describe.skipIf(!HAS_BUCKETS)('a warehouse in an object store (skipped without versitygw)', () => {
  let server: S3Server;
  let relay: S3Relay;
  let at = 0;
  let path: string;
  /** Where the server keeps the objects. */
  let folder: string;

  beforeAll(async () => {
    ({ server, relay } = await startRelayedS3());
  });

  beforeEach(() => {
    relay.fault = undefined;
    at++;
    path = `s3://lake/w${at}`;
    folder = join(server.folder, `lake/w${at}`);
  });

  const entriesIn = (): string[] =>
    readdirSync(join(folder, '_ledger'))
      .filter((name) => /^\d/.test(name))
      .sort();
  const filesIn = async (): Promise<string[]> => await listFiles(folder);

  /** Ids that are the same in every run. */
  const countingIds = () => {
    let count = 0;
    return { ...realEffects, now: () => 1_700_000_000_000, freshId: () => `${++count}`.padStart(12, '0') };
  };

  test('has the files, the ledger and the declarations of one in a folder, byte by byte', async () => {
    const other = join(freshFolder(), 'w');
    const ids: string[] = [];
    for (const place of [path, other]) {
      const effects = countingIds();
      // A folder takes an id for its lock, a bucket one for its probe.
      const store = await openTestStore(place, { effects });
      const first = await commitItems(store, 1, 100, { perDay: 40 });
      await commitItems(store, 101, 120);
      await commitItems(store, 1, 100, { supersedes: [first.id] });
      ids.push(first.id);
      await store.close();
    }
    expect(ids[0]).toBe(ids[1]);
    const kept = (name: string): boolean => /^(_ledger|_declarations|tables)\/|^tonlake.json$/.test(name);
    const own = (await listAll(folder)).filter(kept);
    const inFolder = (await listAll(other)).filter(kept);
    // Superseded files stay for the readers of a bucket; in a folder, those have a second name.
    expect(inFolder.filter((name) => !own.includes(name))).toEqual([]);
    expect(own.filter((name) => !inFolder.includes(name)).every((name) => name.includes('1-100-'))).toBe(true);
    for (const name of inFolder) expect(readFileSync(join(folder, name))).toEqual(readFileSync(join(other, name)));
  });

  test('a run reads what it has committed without a request', async () => {
    const store = await openTestStore(path);
    await commitItems(store, 1, 50);
    relay.fault = () => ({ status: 403, code: 'AccessDenied' });
    expect(await countItems(store)).toEqual({ rows: 50, distinct: 50, parts: 100 });
    relay.fault = undefined;
  });

  test('what was committed is there when it is opened again; another network is refused', async () => {
    const first = await withStore(path, (store) => commitItems(store, 1, 50));
    const again = await openTestStore(path);
    expect(again.ledger()).toEqual([first]);
    await again.close();
    await expect(openTestStore(path, { network: 'testnet' })).rejects.toMatchObject({ code: 'other-network' });
    await expect(openTestStore(path, { kind: 'duckdb' })).rejects.toMatchObject({ code: 'wrong-kind' });
  });

  test('of two that begin it at the same time for different networks, one is refused', async () => {
    const begun = await Promise.allSettled(['mainnet', 'testnet'].map((network) => openTestStore(path, { network })));
    for (const each of begun) if (each.status === 'fulfilled') await each.value.close();
    const refused = begun.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    expect(refused).toMatchObject([{ code: 'other-network' }]);
  });

  test('of writers at the same time each commits, under numbers without a gap', async () => {
    const stores = await Promise.all([1, 2, 3].map(() => openTestStore(path)));
    await Promise.all(
      stores.map(async (store, w) => {
        for (let n = 0; n < 3; n++) await commitItems(store, w * 1000 + n * 10, w * 1000 + n * 10 + 9);
      }),
    );
    for (const store of stores) await store.close();
    const all = await openTestStore(path);
    expect(all.ledger().map(({ number }) => number)).toEqual(Array.from({ length: 9 }, (_, n) => n + 1));
    expect(new Set(all.ledger().map(({ span }) => span.from)).size).toBe(9);
  });

  test('rows of blocks that another writer has committed meanwhile are dropped, with their files', async () => {
    const [one, two] = [await openTestStore(path), await openTestStore(path)];
    await commitItems(one, 50, 149);
    await expect(commitItems(two, 100, 199)).rejects.toMatchObject({ code: 'committed-meanwhile', retryable: true });
    expect((await filesIn()).every((name) => name.includes('50-149-'))).toBe(true);
    // What it learned stays: the next rows are beside them.
    expect(two.ledger()).toEqual(one.ledger());
    await commitItems(two, 150, 199);
    await expect(commitItems(one, 150, 160)).rejects.toMatchObject({ code: 'committed-meanwhile' });
    expect(entriesIn()).toHaveLength(2);
  });

  test.each([
    [1, [1, 2]],
    [3, [1, 2, 3, 4]],
    // Twice as many at once each time, so that few rounds find many.
    [4, [1, 2, 3, 4, 5, 6, 7, 8]],
  ])('a writer that loses its number to %i entries asks once for each, and for few beyond', async (came, asked) => {
    const [one, two] = [await openTestStore(path), await openTestStore(path)];
    for (let n = 0; n < came; n++) await commitItems(one, n * 10, n * 10 + 9);
    relay.requests.length = 0;
    const { number } = await commitItems(two, 900, 909);
    const gets = relay.requests.flatMap(({ method, path: each }) =>
      method === 'GET' ? (/_ledger\/(0\d+)\.json/.exec(each)?.slice(1).map(Number) ?? []) : [],
    );
    expect({ number, gets: gets.sort((a, b) => a - b) }).toEqual({ number: came + 1, gets: asked });
  });

  test('a writer that loses one number after the other waits for a random time, up to twice as long each time', async () => {
    const one = await openTestStore(path);
    const pauses: number[] = [];
    let lost = 0;
    const two = await openTestStore(path, {
      effects: { ...realEffects, random: () => 0.5, sleep: async (ms) => void pauses.push(ms) },
      // Before each of its first nine attempts, the other one takes the number.
      onStep: async (step) => {
        if (step === 'put entry' && lost++ < 9) await commitItems(one, lost * 10, lost * 10 + 9);
      },
    });
    const entry = await commitItems(two, 900, 909);
    expect(entry.number).toBe(10);
    expect(pauses).toEqual([12.5, 25, 50, 100, 200, 400, 800, 1000, 1000]);
    await commitItems(two, 910, 919);
    expect(pauses).toHaveLength(9);
  });

  test('of two writers that replace the same rows, one does', async () => {
    const one = await openTestStore(path);
    const first = await commitItems(one, 1, 50);
    const two = await openTestStore(path);
    await commitItems(one, 1, 50, { supersedes: [first.id] });
    await expect(commitItems(two, 1, 50, { supersedes: [first.id] })).rejects.toMatchObject({
      code: 'committed-meanwhile',
    });
    expect(two.ledger()).toEqual(one.ledger());
  });

  test('the same part of a mart is committed once, and another part of it beside', async () => {
    const [one, two] = [await openTestStore(path), await openTestStore(path)];
    const mart = (day: string) => ({
      pipeline: 'mart:items',
      mart: { day, inputs: 'x', coverage: 'proven' as const, reads: [], through: 0 },
    });
    await commitItems(one, 1, 50, mart('2026-05-01'));
    await expect(commitItems(two, 1, 50, mart('2026-05-01'))).rejects.toMatchObject({ code: 'committed-meanwhile' });
    await commitItems(two, 1, 50, mart('2026-05-02'));
    expect(two.ledger()).toHaveLength(2);
  });

  test('entries that belong together have numbers in a row, and are in force together', async () => {
    const two = await openTestStore(path);
    let puts = 0;
    const onStep = async (step: string): Promise<void> => {
      // Between the two entries of the other writer.
      if (step === 'put entry' && ++puts === 2) await commitItems(two, 500, 509);
    };
    const one = await openTestStore(path, { onStep });
    const given = [await stageItems(one, { from: 1, to: 10 }), await stageItems(one, { from: 11, to: 20 })];
    const drafts = given.map((staged, n) => ({ staged, draft: draftOf({ from: n * 10 + 1, to: n * 10 + 10 }) }));
    await one.commitTogether(drafts);
    const inForce = [
      [2, 500],
      [3, 1],
      [4, 11],
    ];
    expect(one.ledger().map(({ number, span }) => [number, span.from])).toEqual(inForce);
    const reader = await openTestReader(path);
    expect((await reader.log(0)).map(({ number, span }) => [number, span.from])).toEqual(inForce);
  });

  test.each([
    ['500', { status: 500, code: 'InternalError' }],
    ['503', { status: 503, code: 'SlowDown' }],
    ['resets', 'reset'],
    ['lost answers', 'lose'],
  ] as const)('with %s of the store, every row is there once', async (_, fault) => {
    let count = 0;
    relay.fault = ({ method }) => (method !== 'POST' && ++count % 7 === 3 ? fault : 'pass');
    const store = await openTestStore(path);
    for (let n = 0; n < 4; n++) await commitItems(store, n * 10, n * 10 + 9);
    relay.fault = undefined;
    await store.close();
    const again = await openTestStore(path);
    expect(again.ledger().map(({ number, span }) => [number, span.from])).toEqual(
      [1, 2, 3, 4].map((n) => [n, n * 10 - 10]),
    );
    expect(await filesIn()).toHaveLength(8);
  });

  test('a store that overwrites what should be put if absent is refused', async () => {
    relay.fault = ({ method, path: asked }) =>
      method === 'PUT' && asked.includes('_probe') ? { status: 200, code: '' } : 'pass';
    const failure = await openTestStore(path).catch((error: unknown) => error);
    const message = expect.stringMatching(
      /^store: .*: this store overwrites objects that should only be put if absent \(If-None-Match\)$/,
    );
    expect(failure).toMatchObject({ name: 'StoreError', message });
    relay.fault = ({ method }) => (method === 'PUT' ? { status: 501, code: 'NotImplemented' } : 'pass');
    await expect(openTestStore(path)).rejects.toMatchObject({ name: 'StoreError', message });
  });

  test('a bucket that cannot be written can be read, and a writer is told', async () => {
    const entry = await withStore(path, (store) => commitItems(store, 1, 10));
    relay.fault = ({ method }) =>
      method === 'PUT' || method === 'POST' ? { status: 403, code: 'AccessDenied' } : 'pass';
    // The key of the probe is part of the error's message.
    const effects = { ...realEffects, freshId: () => 'ab501c' };
    await expect(openTestStore(path, { effects })).rejects.toMatchObject({ code: 'denied' });
    const reader = await openTestReader(path);
    expect(await reader.ledger()).toEqual([entry]);
    expect(await reader.files('items')).toEqual(entry.tables['items']?.files.map((file) => `${path}/${file.path}`));
  });

  test('a writer that cannot collect garbage is told, and leaves nothing on the local disk', async () => {
    await (await openTestStore(path)).close();
    const local = freshFolder();
    vi.stubEnv('TMPDIR', local);
    onTestFinished(() => void vi.unstubAllEnvs());
    relay.fault = ({ method, path: asked }) =>
      method === 'PUT' && asked.includes('_checkpoints/clock') ? { status: 403, code: 'AccessDenied' } : 'pass';
    await expect(openTestStore(path)).rejects.toMatchObject({ code: 'denied' });
    expect(readdirSync(local)).toEqual([]);
  });

  test('a reader follows the commits of others', async () => {
    const store = await openTestStore(path);
    await commitItems(store, 1, 10);
    const reader = await openTestReader(path);
    expect(await reader.ledger()).toHaveLength(1);
    await commitItems(store, 11, 20);
    expect(await reader.ledger()).toHaveLength(2);
  });

  test('a listing that lags hides no commit; a lost entry is told', async () => {
    await addItems(path, ...tens(3));
    const list = (): Promise<readonly number[]> => {
      const lagging: Partial<WarehouseObjects> = { names: async () => ['00000001.json'] };
      const ledger = new LedgerFolder(path, Object.assign(bucketBackend(path).objects, lagging));
      return ledger.refresh().then((all) => all.map(({ number }) => number));
    };
    expect(await list()).toEqual([1, 2, 3]);
    rmSync(join(folder, '_ledger/00000002.json'));
    await expect(openTestStore(path)).rejects.toMatchObject({ code: 'bad-ledger' });
  });

  test('a checkpoint spares the entries before it, and one that was damaged is ignored', async () => {
    await addItems(path, ...tens(3));
    const ledger = bucketBackend(path).ledger();
    await ledger.refresh();
    await ledger.writeCheckpoint();
    for (const number of [1, 2]) rmSync(join(folder, `_ledger/0000000${number}.json`));
    const again = await openTestStore(path);
    expect(again.ledger()).toHaveLength(3);
    await again.close();
    truncateSync(join(folder, '_checkpoints/00000003.jsonl'), 500);
    await expect(openTestStore(path)).rejects.toMatchObject({ code: 'bad-ledger' });
  });

  test('files that no entry names are removed when no commit can name them any more', async () => {
    const entry = await withStore(path, (store) => commitItems(store, 1, 10), { graceMs: DAY_MS });
    const [named = ''] = await filesIn();
    const orphan = (id: string): string => named.replace(/-[0-9a-f]{12}\.parquet/, `-${id}.parquet`);
    const put = async (name: string): Promise<void> => {
      await bucketBackend(path).objects.put(name, readFileSync(join(folder, named)));
    };
    const foreign = named.replace(/[^/]*$/, 'notes.parquet');
    for (const name of [orphan('aaaaaaaaaaaa'), orphan('bbbbbbbbbbbb'), foreign]) await put(name);
    const old = (Date.now() - 25 * 3_600_000) / 1000;
    for (const name of [orphan('aaaaaaaaaaaa'), foreign, named]) utimesSync(join(folder, name), old, old);
    const again = await openTestStore(path, { graceMs: DAY_MS, effects: clockAt(Date.now() - 10_000) });
    const next = await commitItems(again, 1, 10, { supersedes: [entry.id] });
    await again.clearSuperseded();
    const left = await filesIn();
    // The superseded ones stay for readers, the young one for its writer.
    expect(left).not.toContain(orphan('aaaaaaaaaaaa'));
    for (const name of [orphan('bbbbbbbbbbbb'), foreign, named]) expect(left).toContain(name);
    await again.close();
    const late = await openTestStore(path, { graceMs: 0 });
    await late.clearSuperseded();
    expect(await filesIn()).not.toContain(named);
    expect((await filesIn()).filter((name) => name.includes(next.id))).toHaveLength(2);
  });

  test('garbage is collected an hour after the last time, however often the warehouse is opened meanwhile', async () => {
    await addItems(path, [1, 10]);
    await (await openTestStore(path)).close();
    const [named = ''] = await filesIn();
    const orphan = named.replace(/-[0-9a-f]{12}\.parquet/, '-aaaaaaaaaaaa.parquet');
    await bucketBackend(path).objects.put(orphan, readFileSync(join(folder, named)));
    const age = (name: string, minutes: number): void => {
      const time = Date.now() / 1000 - minutes * 60;
      utimesSync(join(folder, name), time, time);
    };
    age(orphan, 25 * 60);
    const marker = '_checkpoints/collected';
    age(marker, 50);
    const collectedAt = statSync(join(folder, marker)).mtimeMs;
    for (let times = 0; times < 3; times++) await (await openTestStore(path)).close();
    expect(await filesIn()).toContain(orphan);
    expect(statSync(join(folder, marker)).mtimeMs).toBe(collectedAt);
    age(marker, 61);
    await (await openTestStore(path)).close();
    expect(await filesIn()).not.toContain(orphan);
  });

  test('a broken last entry is not removed by a repair that another one and a writer have overtaken', async () => {
    await addItems(path, [1, 10], [11, 20]);
    const key = '_ledger/00000002.json';
    const { objects } = bucketBackend(path);
    const valid = await objects.get(key);
    await objects.put(key, Buffer.from('{"format":1,'));
    const database = await Database.open();
    const damaged = await openDamagedFiles(bucketBackend(path), database, [items, parts]);
    relay.fault = async ({ method, path: asked }): Promise<S3Fault> => {
      if (method !== 'PUT' || !asked.includes('.broken-2')) return 'pass';
      relay.fault = undefined;
      await objects.put(key, valid ?? Buffer.alloc(0));
      return 'pass';
    };
    await damaged.fillLedger({ effects: realEffects, command: 'tonlake verify' });
    damaged.close();
    expect(await objects.get(key)).toEqual(valid);
  });

  test('superseded files stay for an hour by the clock of the store, whatever that of the writer says', async () => {
    const slow = await openTestStore(path, { effects: clockAt(Date.now() - 3 * 3_600_000) });
    const first = await commitItems(slow, 1, 10);
    await commitItems(slow, 1, 10, { supersedes: [first.id] });
    await slow.close();
    const other = await openTestStore(path);
    expect(await other.clearSuperseded()).toBe(0);
    const [superseded = ''] = first.tables['items']?.files.map((file) => file.path) ?? [];
    expect(await filesIn()).toContain(superseded);
    const old = Date.now() / 1000 - 4000;
    utimesSync(join(folder, '_ledger/00000002.json'), old, old);
    expect(await other.clearSuperseded()).toBeGreaterThan(0);
    expect(await filesIn()).not.toContain(superseded);
  });

  // The monotonic clock of Linux stops while the machine sleeps.
  test.each(['monotonic', 'now'])(
    'a commit so long, by the %s clock, that its files may be collected is given up',
    async (clock) => {
      let hours = 0;
      const effects = { ...realEffects, [clock]: () => hours * 3_600_000 };
      const store = await openTestStore(path, {
        effects,
        onStep: async (step) => {
          if (step === 'upload files') hours += 13;
        },
      });
      await expect(commitItems(store, 1, 10)).rejects.toMatchObject({ code: 'too-late' });
      expect(entriesIn()).toEqual([]);
    },
  );

  test('no secret is in the warehouse or in an error', async () => {
    await addItems(path, [1, 10]);
    for (const name of await listAll(folder))
      expect(readFileSync(join(folder, name)).includes('lakelake1')).toBe(false);
    relay.fault = () => ({ status: 403, code: 'SignatureDoesNotMatch' });
    const failure = await openTestStore(path).catch((error: unknown) => error);
    const { message, cause } = failure as Error;
    expect(`${message} ${String(cause)} ${JSON.stringify(cause)}`).not.toMatch(/lakelake1|Credential=|Signature=/);
    expect(statSync(folder).isDirectory()).toBe(true);
  });

  describe.skipIf(EXTENSIONS === undefined)('read by DuckDB (skipped without TONLAKE_DUCKDB_EXTENSIONS)', () => {
    test('all rows of all writers are read, and those of superseded entries are not', async () => {
      const one = await openTestStore(path);
      const first = await commitItems(one, 1, 50, { perDay: 20 });
      const two = await openTestStore(path);
      await commitItems(two, 51, 80);
      await commitItems(one, 1, 50, { supersedes: [first.id] });
      expect(await countItems(one)).toEqual({ rows: 80, distinct: 80, parts: 160 });
      const reader = await openTestReader(path);
      expect(await countItems(reader)).toEqual({ rows: 80, distinct: 80, parts: 160 });
      const { rows } = await reader.query('SELECT count(*) FROM duckdb_secrets() WHERE secret_string LIKE $s', {
        s: '%lakelake1%',
      });
      expect(rows).toEqual([[0n]]);
    });
  });
});
