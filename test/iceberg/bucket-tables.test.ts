import { readFileSync, rmSync, truncateSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/index.ts';
import { ledgerIn, openPlace } from '../../src/warehouse/bucket-store/bucket-place.ts';
import { tonlake } from '../cli.ts';
import { S3_PROGRAM, type S3Relay, type S3Server, startS3, startS3Relay, useS3 } from '../objects/s3-server.ts';
import { afterFile } from '../scratch.ts';
import { clockAt, commitItems, listAll, openTestStore } from '../warehouse/warehouses.ts';
import { metadataOf, publish, publishTables, readSnapshot, tagsOf } from './published.ts';

const HOUR_MS = 3_600_000;

describe.skipIf(S3_PROGRAM === undefined)(
  'tables of a warehouse in an object store (skipped without versitygw)',
  () => {
    let server: S3Server;
    let relay: S3Relay;
    let count = 0;
    let path: string;
    /** Where the server keeps the objects. */
    let folder: string;

    beforeAll(async () => {
      server = await startS3();
      relay = await startS3Relay(server);
      useS3(relay);
    });

    beforeEach(() => {
      relay.fault = undefined;
      count++;
      path = `s3://lake/w${count}`;
      folder = join(server.folder, `lake/w${count}`);
    });

    const read = (table: string, ref?: string) => readSnapshot(folder, table, ref, path);
    const filesIn = async () => (await listAll(folder)).filter((name) => name.endsWith('.parquet'));

    async function commit(...starts: readonly number[]): Promise<void> {
      const store = await openTestStore(path);
      for (const from of starts) await commitItems(store, from, from + 9, { perDay: 15 });
      await store.close();
    }

    test('lie beside the data, and name it by its address', async () => {
      await commit(0, 10, 20);
      const before = await filesIn();
      const { report, events } = await publishTables(path);
      expect(report).toMatchObject({ event: 'done', warehouse: path, entry: 3, tables: 2, published: 2, skipped: [] });
      expect(events).toMatchObject([
        { table: 'items', outcome: 'published', files: 4, rows: 30, added: 4 },
        { table: 'parts', outcome: 'published', files: 3, rows: 60, added: 3 },
      ]);
      expect(await metadataOf(folder, 'items')).toMatchObject({ location: `${path}/iceberg/items` });
      expect(await read('items')).toMatchObject({ rows: 30 });
      expect(await read('parts', 'entry-3')).toMatchObject({ rows: 60 });
      expect(await filesIn()).toEqual(before);
      expect(await publish(path)).toMatchObject({ entry: 3, published: 0 });
      for (const name of await listAll(join(folder, 'iceberg')))
        expect(readFileSync(join(folder, 'iceberg', name)).includes('lakelake1')).toBe(false);
    });

    test('cost as many requests for one more commit, however many there were', async () => {
      const requestsOf = async (): Promise<number> => {
        relay.requests.length = 0;
        await publish(path);
        return relay.requests.length;
      };
      const starts = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => 10 * (from + n));
      await commit(...starts(0, 3));
      await publish(path);
      await commit(30);
      const early = await requestsOf();
      const ledger = ledgerIn(openPlace(path));
      await commit(...starts(4, 20));
      await ledger.refresh();
      await ledger.writeCheckpoint('');
      await publish(path);
      await commit(400);
      const late = await requestsOf();
      // Reading the ledger begins at a checkpoint here and at the first entry there, and marks are read one by one.
      expect(late - early).toBeLessThanOrEqual(4);
      expect(late).toBeLessThan(50);
    });

    test.each([
      ['lost answers', 'lose'],
      ['resets', 'reset'],
    ] as const)(
      'of publishers at the same time with %s, each state is there once and the newest is on top',
      async (_, fault) => {
        const store = await openTestStore(path);
        let asked = 0;
        relay.fault = ({ method }) => (method === 'PUT' && ++asked % 5 === 2 ? fault : 'pass');
        const publishers: Promise<unknown>[] = [];
        for (const from of [0, 10, 20]) {
          await commitItems(store, from, from + 9);
          publishers.push(publish(path), publish(path));
        }
        await Promise.all(publishers);
        relay.fault = undefined;
        await store.close();
        await publish(path);
        for (const [table, each] of [
          ['items', 10],
          ['parts', 20],
        ] as const) {
          const tags = await tagsOf(folder, table);
          expect(tags.at(-1)).toBe('entry-3');
          for (const tag of tags) expect((await read(table, tag)).rows).toBe(each * Number(tag.slice(6)));
          expect((await read(table)).rows).toBe(3 * each);
          // A snapshot for each state: what was put although its answer was lost is not put again.
          expect((await metadataOf(folder, table))['snapshots']).toHaveLength(tags.length);
        }
        expect(await publish(path)).toMatchObject({ published: 0 });
      },
    );

    test('keep superseded files as long as a snapshot shows them, also when a checkpoint left their entry out', async () => {
      const old = clockAt(Date.now() - 48 * HOUR_MS);
      const store = await openTestStore(path, { effects: old });
      const first = await commitItems(store, 0, 9);
      await publish(path, { effects: old });
      old.time += HOUR_MS;
      await commitItems(store, 0, 9, { supersedes: [first.id] });
      const keep = { keepMs: 60 * HOUR_MS };
      await publish(path, { ...keep, effects: old });
      old.time += 40 * HOUR_MS;
      await commitItems(store, 10, 19);
      await store.close();
      const shown = await read('items', 'entry-1');
      // As old as they are by the ledger.
      for (const name of shown.files)
        utimesSync(join(folder, name), old.time / 1000 - 40 * 3600, old.time / 1000 - 40 * 3600);
      const ledger = ledgerIn(openPlace(path));
      await ledger.refresh();
      const collect = async (): Promise<readonly string[]> => {
        const writer = await openTestStore(path, { graceMs: 0 });
        await writer.clearSuperseded();
        await writer.close();
        return filesIn();
      };
      expect(await collect()).toEqual(expect.arrayContaining([...shown.files]));
      await ledger.writeCheckpoint('');
      const again = ledgerIn(openPlace(path));
      await again.refresh();
      expect(again.entries.all.map(({ number }) => number)).toEqual([2, 3]);
      expect(await collect()).toEqual(expect.arrayContaining([...shown.files]));
      expect((await read('items', 'entry-1')).rows).toBe(10);
      // A lost entry makes it unknown what the snapshot shows.
      const entry = join(folder, '_ledger/00000001.json');
      const text = readFileSync(entry);
      truncateSync(entry, 20);
      expect(await collect()).toEqual(expect.arrayContaining([...shown.files]));
      await openPlace(path).objects.put('_ledger/00000001.json', text);
      expect(await publish(path, { keepMs: HOUR_MS })).toMatchObject({ entry: 3 });
      const left = await collect();
      for (const name of shown.files) expect(left).not.toContain(name);
      expect(await tagsOf(folder, 'items')).toEqual(['entry-2', 'entry-3']);
      expect((await read('items', 'entry-2')).rows).toBe(10);
    });

    test('are not published with a file that is gone or truncated', async () => {
      await commit(0, 10);
      const [name = ''] = (await filesIn()).filter((each) => each.includes('items'));
      truncateSync(join(folder, name), 100);
      await expect(publish(path)).rejects.toMatchObject({ code: 'bad-ledger', message: expect.stringContaining(name) });
      rmSync(join(folder, name));
      await expect(publish(path)).rejects.toMatchObject({
        code: 'bad-ledger',
        hint: expect.stringContaining('verify'),
      });
    });

    test('are refused in one line by a bucket that cannot be written', async () => {
      await commit(0);
      relay.fault = ({ method }) => (method === 'PUT' ? { status: 403, code: 'AccessDenied' } : 'pass');
      const failure = await publish(path).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'denied' });
      expect((failure as Error).message).not.toContain('\n');
    });

    test('tonlake run --publish iceberg and tonlake publish iceberg take an address', async () => {
      const sandbox = await startSandbox();
      afterFile(() => sandbox.close());
      const place = ['--warehouse', path, '--network', sandbox.url];
      const run = ['run', 'transactions', ...place, '--range', '1000:1001', '--workers', '0', '--publish', 'iceberg'];
      const { code, stdout } = await tonlake(run, { env: relay.env });
      expect([code, stdout]).toEqual([0, expect.stringContaining(`${path}/iceberg: 4 tables at entry-`)]);
      const rows = (await read('transactions')).rows;
      expect(rows).toBeGreaterThan(0);
      const moved = ['publish', 'iceberg', ...place, '--location', 's3a://lake/elsewhere'];
      expect(await tonlake(moved, { env: relay.env })).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('its history begins anew: the warehouse was moved'),
      });
      expect((await readSnapshot(folder, 'transactions', 'main', 's3a://lake/elsewhere')).rows).toBe(rows);
    });
  },
);
