import { execFile } from 'node:child_process';
import { readFileSync, renameSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Database } from '../../src/sql/database.ts';
import { loadExtension } from '../../src/sql/httpfs.ts';
import { bucketBackend, remoteAccess } from '../../src/warehouse/bucket-store/bucket-backend.ts';
import { tonlake } from '../cli.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { EXTENSIONS, HAS_BUCKETS, type S3Relay, type S3Server, startRelayedS3 } from '../objects/s3-server.ts';
import { hasModules, PYTHON } from '../programs.ts';
import { afterFile, freshFolder } from '../scratch.ts';
import { compact } from '../warehouse/compacting.ts';
import { clockAt, commitItems, listAll, openTestStore } from '../warehouse/warehouses.ts';
import { metadataOf, publish, publishTables, readSnapshot, tagsOf } from './published.ts';

const HOUR_MS = 3_600_000;

const HAS_READERS = hasModules(['pyiceberg', 'polars', 'pyarrow']);

/** Rows of a table, of its first state and of its first day, by pyiceberg and by Polars; a request tells where the last ones begin. */
const READ = `
import datetime, json, os, sys, urllib.request
os.environ['POLARS_ICEBERG_PLANNER'] = 'pyiceberg'
import polars as pl
from pyiceberg.table import StaticTable
endpoint, location, documented = sys.argv[1:]
# As in docs/lake.md, and nothing of the environment.
for name in [name for name in os.environ if name.startswith('AWS_')]: del os.environ[name]
access = {'s3.endpoint': endpoint, 's3.access-key-id': 'lake', 's3.secret-access-key': 'lakelake1', 's3.region': 'us-east-1'}
table = StaticTable.from_metadata(location, access)
def rows(snapshot):
  frame = pl.scan_iceberg(table, snapshot_id=snapshot, storage_options=access, reader_override='native')
  return [table.scan(snapshot_id=snapshot).to_arrow().num_rows, frame.collect().height]
found = [rows(None), rows(table.snapshot_by_name('entry-1').snapshot_id)]
properties = access
found.append([found[0][0], eval(documented).collect().height])
day = min(task.file.partition[0] for task in table.scan().plan_files())
date = datetime.date(1970, 1, 1) + datetime.timedelta(days=day)
try:
  urllib.request.urlopen(f'{endpoint}/the-day-begins')
except urllib.error.HTTPError:
  pass
of_day = table.scan(row_filter=f"block_date = '{date}'", selected_fields=('block_date', 'hash')).to_arrow().num_rows
frame = pl.scan_iceberg(table, storage_options=access, reader_override='native').filter(pl.col('block_date') == date)
print(json.dumps([*found, [of_day, frame.collect().height], str(date)]))`;

describe.skipIf(!HAS_BUCKETS)('tables of a warehouse in an object store (skipped without versitygw)', () => {
  let server: S3Server;
  let relay: S3Relay;
  let count = 0;
  let path: string;
  /** Where the server keeps the objects. */
  let folder: string;

  beforeAll(async () => {
    ({ server, relay } = await startRelayedS3());
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

  test('have files that a merge left as they are, also once these and the merge are superseded', async () => {
    const effects = clockAt(Date.now() - 10 * 24 * HOUR_MS);
    const store = await openTestStore(path, { effects });
    for (const from of [0, 10]) await commitItems(store, from, from + 9, { perDay: 10 });
    await publish(path, { effects });
    const shown = await read('items', 'entry-2');
    expect(await compact(path, { effects })).toMatchObject({ merged: 1 });
    effects.time += 5 * 24 * HOUR_MS;
    await commitItems(store, 20, 29);
    await store.close();
    const { ledger } = bucketBackend(path);
    const written = ledger();
    await written.refresh();
    await written.writeCheckpoint();
    const again = await openTestStore(path, { effects });
    const [merged] = again.ledger();
    expect(merged?.tables['items']?.files.map((file) => file.path).sort()).toEqual([...shown.files].sort());
    await commitItems(again, 0, 19, { supersedes: [merged?.id ?? ''] });
    await again.close();
    const late = await openTestStore(path, { effects, graceMs: 0 });
    await late.clearSuperseded();
    await late.close();
    expect(await read('items', 'entry-2')).toEqual(shown);
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
    const ledger = bucketBackend(path).ledger();
    await commit(...starts(4, 20));
    await ledger.refresh();
    await ledger.writeCheckpoint();
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
    const ledger = bucketBackend(path).ledger();
    await ledger.refresh();
    const collect = async (): Promise<readonly string[]> => {
      const writer = await openTestStore(path, { graceMs: 0 });
      await writer.clearSuperseded();
      await writer.close();
      return filesIn();
    };
    expect(await collect()).toEqual(expect.arrayContaining([...shown.files]));
    /** Numbers of entries that a checkpoint has, and of those that are read beside it to collect what is left. */
    const numbers = async () => {
      const again = bucketBackend(path).ledger();
      await again.refresh();
      relay.requests.length = 0;
      expect(await collect()).toEqual(expect.arrayContaining([...shown.files]));
      const read = relay.requests.flatMap(({ method, path: asked }) =>
        method === 'GET' ? (/_ledger\/(\d+)\.json/.exec(asked)?.[1] ?? []) : [],
      );
      // The first one beyond those that are there is asked for to see that there is none.
      return {
        kept: again.entries.all.map(({ number }) => number),
        read: [...new Set(read.map(Number))].filter((number) => number <= 3),
      };
    };
    await ledger.writeCheckpoint();
    expect(await numbers()).toEqual({ kept: [1, 2, 3], read: [] });
    // A checkpoint that was written before the state was published.
    const marks = join(folder, 'iceberg/_entries');
    renameSync(marks, `${marks}.away`);
    await ledger.writeCheckpoint();
    renameSync(`${marks}.away`, marks);
    expect(await numbers()).toEqual({ kept: [2, 3], read: [1] });
    expect((await read('items', 'entry-1')).rows).toBe(10);
    // A lost entry makes it unknown what the snapshot shows.
    const entry = join(folder, '_ledger/00000001.json');
    const text = readFileSync(entry);
    truncateSync(entry, 20);
    expect(await collect()).toEqual(expect.arrayContaining([...shown.files]));
    await bucketBackend(path).objects.put('_ledger/00000001.json', text);
    expect(await publish(path, { keepMs: HOUR_MS })).toMatchObject({ entry: 3 });
    const left = await collect();
    for (const name of shown.files) expect(left).not.toContain(name);
    expect(await tagsOf(folder, 'items')).toEqual(['entry-2', 'entry-3']);
    expect((await read('items', 'entry-2')).rows).toBe(10);
  });

  /** Three states of ten rows more; the rows are of two days. */
  async function publishStates(): Promise<void> {
    for (const from of [0, 10, 20]) {
      await commit(from);
      await publish(path);
    }
  }
  /** Data files that were opened since `relay.requests` was emptied. */
  const opened = () => [
    ...new Set(
      relay.requests.flatMap(({ path: asked }) => /tables\/(.*\.parquet)/.exec(decodeURIComponent(asked))?.[1] ?? []),
    ),
  ];

  test.skipIf(EXTENSIONS === undefined)(
    'are read by DuckDB, as is an old state; a day opens only its files',
    async () => {
      await publishStates();
      const database = await Database.open();
      afterFile(() => database.close());
      await remoteAccess(path)(database);
      for (const name of ['avro', 'iceberg'] as const) await loadExtension(database, name);
      const ask = async (what: string, rest = '', state = ''): Promise<readonly (readonly string[])[]> => {
        const { rows } = await database.query(
          `SELECT ${what} FROM iceberg_scan('${path}/iceberg/items'${state}) ${rest}`,
        );
        return rows.map((row) => row.map(String));
      };
      const days = [...new Set((await filesIn()).flatMap((name) => /block_date=([^/]*)/.exec(name)?.[1] ?? []))];
      expect(days).toHaveLength(2);
      // Before all is read: DuckDB keeps what it has read.
      for (const day of days) {
        relay.requests.length = 0;
        expect(await ask('count(*), max(lt)::VARCHAR', `WHERE block_date = DATE '${day}'`)).toHaveLength(1);
        expect(opened().length).toBeGreaterThan(0);
        expect(opened().filter((name) => !name.includes(`block_date=${day}`))).toEqual([]);
      }
      const all = await ask('block_date, count(*), sum(fees)::BIGINT, count(DISTINCT hash)', 'GROUP BY ALL ORDER BY 1');
      expect(all.map(([, ...figures]) => figures)).toEqual([
        ['15', '42', '15'],
        ['15', '43', '15'],
      ]);
      const { refs } = (await metadataOf(folder, 'items')) as {
        readonly refs: Record<string, { readonly 'snapshot-id': number }>;
      };
      const old = `, snapshot_from_id = ${refs['entry-1']?.['snapshot-id']}`;
      expect(await ask('count(*)', '', old)).toEqual([['10']]);
    },
  );

  test.skipIf(!HAS_READERS)('are read by pyiceberg and Polars; a day opens only its files', async () => {
    await publishStates();
    const script = join(freshFolder(), 'read.py');
    writeFileSync(script, READ);
    relay.requests.length = 0;
    const page = readFileSync(fileURLToPath(new URL('../../docs/lake.md', import.meta.url)), 'utf8');
    const [, documented = ''] = /^\| Polars \| `(.+?)`/m.exec(page) ?? [];
    const { stdout } = await promisify(execFile)(PYTHON, [script, relay.url, `${path}/iceberg/items`, documented]);
    const [all, old, asDocumented, ofDay, day] = JSON.parse(stdout);
    expect([all, old, asDocumented, ofDay]).toEqual([
      [30, 30],
      [10, 10],
      [30, 30],
      [15, 15],
    ]);
    relay.requests.splice(0, 1 + relay.requests.findIndex((one) => one.path === '/the-day-begins'));
    expect(opened().length).toBeGreaterThan(0);
    expect(opened().filter((name) => !name.includes(`block_date=${day}`))).toEqual([]);
  });

  test('are not published with a file that is gone or truncated', async () => {
    await commit(0, 10);
    const [name = ''] = (await filesIn()).filter((each) => each.includes('items'));
    truncateSync(join(folder, name), 100);
    await expect(publish(path)).rejects.toMatchObject({ code: 'damaged', message: expect.stringContaining(name) });
    rmSync(join(folder, name));
    await expect(publish(path)).rejects.toMatchObject({
      code: 'damaged',
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
    const sandbox = await startTestSandbox();
    afterFile(() => sandbox.close());
    const place = ['--warehouse', path, '--network', sandbox.url];
    const run = ['run', 'transactions', ...place, '--range', '1000:1001', '--publish', 'iceberg'];
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
});
