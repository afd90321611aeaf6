import { cpSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import type { TableDef } from '../../src/declare/table.ts';
import { buildMarts } from '../../src/marts/build-marts.ts';
import { Database } from '../../src/sql/database.ts';
import { loadExtension } from '../../src/sql/httpfs.ts';
import { Instance } from '../../src/sql/instance.ts';
import { BucketScans } from '../../src/warehouse/bucket-store/bucket-scans.ts';
import { ScanMetadata } from '../../src/warehouse/bucket-store/scan-metadata.ts';
import { LedgerFolder } from '../../src/warehouse/ledger/ledger-folder.ts';
import { openQueries, type Queries, withQueries } from '../../src/warehouse/query/query.ts';
import type { Reader } from '../../src/warehouse/reader.ts';
import { readerSettings } from '../../src/warehouse/reader-settings.ts';
import { type TableScans, WarehouseViews } from '../../src/warehouse/relations/warehouse-views.ts';
import { tonlake } from '../cli.ts';
import { exportSandbox, registry } from '../marts/support.ts';
import { EXTENSIONS, HAS_BUCKETS, type S3Relay, type S3Server, startRelayedS3 } from '../objects/s3-server.ts';
import { freshFolder } from '../scratch.ts';
import type { Value } from './batches.ts';
import { everything, items, parts } from './tables.ts';
import {
  addItems,
  changedItems,
  commitItems,
  commitRows,
  draftOf,
  listAll,
  openTestReader,
  openTestStore,
  stageItems,
} from './warehouses.ts';

/** Views over the files of a folder: named by their paths, and through metadata. */
async function openBoth(path: string, tables: readonly TableDef[]) {
  const ledger = new LedgerFolder(path);
  await ledger.refresh();
  const metadata = new ScanMetadata(freshFolder());
  const scans: TableScans = {
    confine: async () => [],
    scanOf: async (database, table, group) => {
      await loadExtension(database, 'avro');
      await loadExtension(database, 'iceberg');
      return `iceberg_scan('${metadata.write(table, group)}')`;
    },
  };
  const [one, other] = [new Instance(readerSettings()), new Instance(readerSettings())];
  const base = { path, ledger, tables, pathOf: (file: string) => join(path, file) };
  const listed = new WarehouseViews({ ...base, instance: one });
  const scanned = new WarehouseViews({ ...base, instance: other, scans });
  const both = async (sql: string) => {
    const [one, other] = [await listed.query(sql), await scanned.query(sql)];
    expect({ sql, ...other }).toEqual({ sql, ...one });
    return one.rows;
  };
  return {
    both,
    /** Requires equal rows, columns and types of a table; in any order. */
    sameTable: async (name: string) => {
      await both(`DESCRIBE ${name}`);
      const [[rows] = []] = await both(
        `SELECT count(*), count(DISTINCT r), bit_xor(hash(r)) FROM (SELECT ${name} AS r FROM ${name})`,
      );
      return Number(rows);
    },
    plan: async (sql: string) => JSON.stringify((await scanned.query(`EXPLAIN ${sql}`)).rows),
    close: async () => {
      await listed.close();
      await scanned.close();
      for (const instance of [one, other]) await instance.close();
    },
  };
}

const DAY = 86_400n;

/** Rows with each type at its bounds, and with as many nulls as there may be. */
function extremeRows(from: number): Record<string, Value>[] {
  const max64 = 2n ** 63n - 1n;
  const nines = 10n ** 38n - 1n;
  const low = {
    name: '',
    body: new Uint8Array(),
    flag: false,
    count: -(2n ** 31n),
    shard: -(2n ** 63n),
    amount: -nines,
  };
  const high = {
    ...{
      name: "\u0000'\u{10FFFF}\u{1F600} é",
      body: Uint8Array.from([0, 255, 128]),
      flag: true,
      count: 2n ** 31n - 1n,
    },
    ...{ shard: max64, amount: nines, label: 'x'.repeat(40), init: Uint8Array.from([7]), maybe: true, exit_code: -14n },
    ...{ opcode: 2n ** 31n - 1n, seqno: 2n ** 32n - 1n, big: -(2n ** 63n), value: max64, query_id: 2n ** 64n - 1n },
    supply: -nines,
  };
  const times = [0n, 1_777_593_599n, 1_777_593_600n, 2n ** 32n - 1n];
  return times.flatMap((now, at) =>
    [low, high].map((values, which) => {
      const id = which === 0 && at === 0 ? BigInt(from) - 2n ** 63n : BigInt(from + at * 2 + which);
      return { ...values, id, now, block_time: now * 1_000_000n, block_date: now / DAY };
    }),
  );
}

describe.skipIf(EXTENSIONS === undefined)('tables through metadata (skipped without the extensions of DuckDB)', () => {
  test('have the columns, types and values of their files, at the bounds of each type', async () => {
    const path = join(freshFolder(), "o'dd [1] {a,b} é");
    const store = await openTestStore(path, { tables: [everything] });
    for (const from of [1, 100, 200]) {
      await commitRows(store, everything, extremeRows(from), { from, to: from + 9 });
    }
    await store.close();
    const views = await openBoth(path, [everything]);
    expect(await views.sameTable('everything')).toBe(24);
    for (const { name } of everything.columns) {
      await views.both(`SELECT min("${name}"), max("${name}"), count(*) - count("${name}") FROM everything`);
      await views.both(`SELECT count(*) FROM everything WHERE "${name}" IS NULL`);
      await views.both(`SELECT count(*) FROM everything WHERE "${name}" = (SELECT max("${name}") FROM everything)`);
      await views.both(`SELECT count(*) FROM everything WHERE "${name}" <= (SELECT min("${name}") FROM everything)`);
    }
    await views.close();
  });

  test('leave out what was superseded, and fill columns that older files lack', async () => {
    const path = join(freshFolder(), 'w');
    const old = changedItems((columns) => columns.filter(({ name }) => name !== 'comment'));
    const store = await openTestStore(path, { tables: [old, parts] });
    const day = { block_time: 1_777_593_600_000_000n, block_date: 20_574n, now: 1_777_593_600n, fees: 1n };
    const older = [
      { ...day, hash: 'a', lt: 1n },
      { ...day, hash: 'b', lt: 2n },
    ];
    await commitRows(store, old, older, { from: 1, to: 3 });
    await store.close();
    const later = await openTestStore(path);
    const gone = await commitItems(later, 10, 19, { perDay: 5 });
    await commitItems(later, 20, 29, { perDay: 5 });
    await commitItems(later, 10, 19, {
      perDay: 5,
      supersedes: [gone.id],
      spans: [
        { from: 10, to: 12 },
        { from: 14, to: 19 },
      ],
    });
    await later.close();
    const views = await openBoth(path, [items, parts]);
    expect(await views.sameTable('items')).toBe(22);
    expect(await views.sameTable('parts')).toBe(40);
    expect(await views.both('SELECT hash, comment FROM items WHERE lt < 100 ORDER BY lt')).toEqual([
      ['a', null],
      ['b', null],
    ]);
    await views.both("SELECT count(*) FROM items WHERE comment IS NULL AND block_date = '2026-05-03'");
    await views.close();
  });

  test('answer every filter as the files do', async () => {
    const path = join(freshFolder(), 'w');
    await addItems(path, ...Array.from({ length: 6 }, (_, n) => [n * 100 + 1, n * 100 + 60, { perDay: 37 }] as const));
    const views = await openBoth(path, [items, parts]);
    const term = fc.oneof(
      fc
        .tuple(fc.integer({ min: 0, max: 560 }), fc.constantFrom('<', '<=', '=', '>', '>=', '<>'))
        .map(([n, op]) => `lt ${op} ${n * 1000}`),
      fc
        .tuple(fc.integer({ min: 0, max: 16 }), fc.constantFrom('<', '=', '>=', '<>'))
        .map(([n, op]) => `block_date ${op} DATE '2026-05-01' + ${n}`),
      fc
        .tuple(fc.integer({ min: 0, max: 16 }), fc.constantFrom('<', '>='))
        .map(([n, op]) => `block_time ${op} TIMESTAMP '2026-05-01 00:08:20' + INTERVAL ${n} DAY`),
      fc.integer({ min: 0, max: 560 }).map((n) => `hash IN ('hash-${n}', 'hash-${n + 1}')`),
      fc.integer({ min: 1_777_593_600, max: 1_779_000_000 }).map((n) => `now BETWEEN ${n} AND ${n} + 200000`),
      fc.constantFrom('comment IS NULL', 'fees = 3', 'now IS NULL', 'block_time::DATE <> block_date', 'true'),
    );
    const where = fc
      .tuple(term, fc.constantFrom('AND', 'OR', 'AND NOT'), term)
      .map(([a, op, b]) => `(${a}) ${op} (${b})`);
    await fc.assert(
      fc.asyncProperty(where, async (condition) => {
        await views.both(`SELECT count(*), sum(lt), count(comment), min(block_date) FROM items WHERE ${condition}`);
      }),
      { numRuns: 60 },
    );
    expect(await views.plan("SELECT count(hash) FROM items WHERE block_date = '2026-05-02'")).toContain('ICEBERG_SCAN');
    await views.close();
  });

  test('of a whole warehouse, with marts and views, are equal', async () => {
    const path = await exportSandbox('4999:5000');
    await buildMarts(path, { names: ['accounts', 'transactions_daily', 'top_contracts_daily'] });
    const views = await openBoth(path, registry.tables);
    const listed = await views.both(
      "SELECT table_name FROM information_schema.tables WHERE table_schema = 'main' ORDER BY 1",
    );
    let rows = 0;
    for (const [name] of listed) rows += await views.sameTable(`"${name}"`);
    expect(listed.length).toBeGreaterThan(20);
    expect(rows).toBeGreaterThan(1000);
    await views.close();
  });

  test('write little after a commit, and keep nothing that is old', async () => {
    const folder = freshFolder();
    const metadata = new ScanMetadata(folder);
    const { columns } = items;
    const file = (entry: number) => ({
      ...{ entry, place: `s3://lake/w/${entry}.parquet` },
      file: { path: `tables/items/block_date=2026-05-01/${entry}.parquet`, rows: 1, bytes: 10, bounds: {}, sha256: '' },
    });
    const group = (count: number) => ({
      ...{
        schema: 'x',
        columns: columns.map(({ name }) => ({ name, type: name === 'block_date' ? 'DATE' : 'VARCHAR' })),
      },
      ...{ paths: [], files: Array.from({ length: count }, (_, at) => file(at + 1)) },
    });
    metadata.write(items, group(2000));
    const before = await listAll(folder);
    expect(before.length).toBe(5 + 2);
    metadata.write(items, group(2001));
    const after = await listAll(folder);
    // The last manifest, the list and the metadata are new.
    expect(after.filter((name) => !before.includes(name)).length).toBe(3);
    expect(after.length).toBe(before.length);
  });
});

test('without the extensions, files are named by their paths', async () => {
  const none = freshFolder();
  const database = await Database.open(':memory:', { extension_directory: none });
  const before = process.env['TONLAKE_DUCKDB_EXTENSIONS'];
  process.env['TONLAKE_DUCKDB_EXTENSIONS'] = none;
  try {
    const paths = Array.from({ length: 50 }, (_, at) => `s3://lake/w/${at}.parquet`);
    const scans = new BucketScans();
    expect(await scans.scanOf(database, items, { schema: 'x', columns: [], paths, files: [] })).toBeUndefined();
    await scans.close();
  } finally {
    if (before === undefined) delete process.env['TONLAKE_DUCKDB_EXTENSIONS'];
    else process.env['TONLAKE_DUCKDB_EXTENSIONS'] = before;
    database.close();
  }
});

describe.skipIf(!HAS_BUCKETS)('a warehouse in an object store (skipped without versitygw and extensions)', () => {
  let server: S3Server;
  let relay: S3Relay;
  let folder: string;
  const path = 's3://lake/w';

  beforeAll(async () => {
    ({ server, relay } = await startRelayedS3());
    folder = join(freshFolder(), 'w');
    // 20 files of items, of 20 days, and as many of parts.
    await addItems(
      folder,
      ...Array.from({ length: 20 }, (_, n) => [n * 100 + 1, n * 100 + 99, { perDay: 100 }] as const),
    );
    cpSync(folder, join(server.folder, 'lake/w'), { recursive: true });
  });

  /** Runs a query. @returns its rows, and the data files that it requested */
  const ask = async (reader: Reader, sql: string) => {
    relay.requests.length = 0;
    const { rows } = await reader.query(sql);
    const data = relay.requests.filter(({ path: asked }) => asked.includes('.parquet'));
    return {
      rows,
      heads: data.filter(({ method }) => method === 'HEAD').length,
      files: new Set(data.map((one) => one.path)).size,
    };
  };

  test('no request tells the size of a file, and files are opened only if a query may need them', async () => {
    const [reader, local] = [await openTestReader(path), await openTestReader(folder)];
    const expected: readonly (readonly [sql: string, files: number])[] = [
      ['SELECT count(*) FROM items', 0],
      ["SELECT count(*), sum(fees) FROM items WHERE block_date = '2026-05-03'", 1],
      ['SELECT hash, comment FROM items WHERE lt = 1950000', 1],
      ["SELECT count(fees) FROM items WHERE block_time BETWEEN '2026-05-05 00:00' AND '2026-05-06 12:00'", 2],
      ["SELECT count(*) FROM items WHERE block_date > '2027-01-01'", 0],
      ["SELECT count(*), sum(lt) FROM items WHERE hash = 'hash-1234'", 20],
      ['SELECT count(*), count(DISTINCT item_hash) FROM parts', 20],
    ];
    for (const [sql, files] of expected) {
      const told = await ask(reader, sql);
      expect({ sql, ...told }).toEqual({ sql, rows: (await local.query(sql)).rows, heads: 0, files: told.files });
      // What was read before is not read again.
      expect([sql, told.files <= files]).toEqual([sql, true]);
    }
    await reader.close();
    await local.close();
  });

  test('the timer tells the requests that the store got, and the bytes that it sent', async () => {
    for (const sql of [
      "SELECT sum(fees) FROM items WHERE block_date = '2026-05-04'",
      'SELECT count(DISTINCT hash) FROM items',
    ]) {
      const reader = await openTestReader(path, { countsTraffic: true });
      await reader.traffic?.();
      relay.requests.length = 0;
      relay.bytes = 0;
      // Attempts that fail are requests, too.
      let isFirst = true;
      relay.fault = ({ path: asked }) => {
        if (!isFirst || !asked.includes('.parquet')) return 'pass';
        isFirst = false;
        return { status: 503, code: 'SlowDown' };
      };
      await reader.query(sql);
      relay.fault = undefined;
      const { data, ledger } = (await reader.traffic?.()) ?? {};
      const isData = ({ path: asked }: { readonly path: string }) => asked.includes('.parquet');
      expect(data?.requests).toBe(relay.requests.filter(isData).length);
      expect(ledger?.requests).toBe(relay.requests.filter((one) => !isData(one)).length);
      expect(Number(data?.requests)).toBeGreaterThan(1);
      // The error that the relay made up is no byte of the server.
      const ownBytes = Number(data?.bytes) + Number(ledger?.bytes) - relay.bytes;
      expect(ownBytes).toBeGreaterThanOrEqual(0);
      expect(ownBytes).toBeLessThan(300);
      expect(await reader.traffic?.()).toEqual({ data: { requests: 0, bytes: 0 }, ledger: { requests: 0, bytes: 0 } });
      await reader.close();
    }
    const uncounted = await openTestReader(path);
    expect(uncounted.traffic).toBeUndefined();
  });

  test('tonlake sql --timer prints them as a line, or as JSON beside JSON', async () => {
    const sql = (...more: readonly string[]) =>
      tonlake(['sql', 'SELECT 1 AS a', '--timer', '--warehouse', ...more], { env: relay.env });
    const text = await sql(path);
    expect(text.stderr).toMatch(/^\d+\.\d{3} s, 0 requests, 0 B; ledger: \d+ requests, [\d.]+ (B|kB)\n$/);
    const json = await sql(path, '--format', 'json');
    expect(JSON.parse(json.stdout)).toEqual([{ a: 1 }]);
    expect(JSON.parse(json.stderr)).toMatchObject({
      event: 'timer',
      seconds: expect.any(Number),
      data: { requests: 0, bytes: 0 },
    });
    expect(JSON.parse(json.stderr).ledger.requests).toBeGreaterThan(1);
    expect((await sql(folder)).stderr).toMatch(/^\d+\.\d{3} s\n$/);
  });

  test('a reader follows commits, unless it is pinned; a query of its own files names them', async () => {
    const reader = await openTestReader(path);
    const pinned = await openTestReader(path, { isPinned: true });
    const count = async (one: Reader) => Number((await one.query('SELECT count(*) FROM items')).rows[0]?.[0]);
    const before = await count(reader);
    expect(await count(pinned)).toBe(before);
    const store = await openTestStore(path);
    const first = await commitItems(store, 5001, 5010);
    // A writer names its own files on the disk beside those in the store.
    expect(Number((await store.query('SELECT count(DISTINCT hash) FROM items')).rows[0]?.[0])).toBe(before + 10);
    await store.commit(
      await stageItems(store, { from: 5001, to: 5005 }),
      draftOf({ from: 5001, to: 5005 }, { supersedes: [first.id] }),
    );
    expect(Number((await store.query('SELECT count(DISTINCT hash) FROM items')).rows[0]?.[0])).toBe(before + 5);
    expect(await count(reader)).toBe(before + 5);
    expect(await count(pinned)).toBe(before);
    const [entry] = await reader.ledger();
    const own = await reader.query(reader.select(items, entry === undefined ? [] : [entry]));
    expect(own.rows.length).toBe(99);
  });

  test('one query asks for each entry once; a shell asks for the next entry once a query, and sees it', async () => {
    const entriesAsked = () =>
      relay.requests.flatMap(({ path: asked }) => /_ledger\/(\d+)\.json/.exec(asked)?.slice(1).map(Number) ?? []);
    const count = (queries: Queries) =>
      queries.read('SELECT count(*) FROM _commits', async ({ chunks }) => {
        for await (const [row] of chunks()) return Number(row?.[0]);
        return 0;
      });
    const ledger = await openTestReader(path);
    const last = (await ledger.log(0)).length;
    await ledger.close();
    relay.requests.length = 0;
    await withQueries(path, {}, count);
    expect(entriesAsked().sort((a, b) => a - b)).toEqual(Array.from({ length: last + 1 }, (_, n) => n + 1));
    const shell = await openQueries(path);
    const before = await count(shell);
    relay.requests.length = 0;
    expect(await count(shell)).toBe(before);
    expect(entriesAsked()).toEqual([last + 1]);
    await addItems(path, [6001, 6010]);
    expect(await count(shell)).toBe(before + 1);
    await shell.close();
  });

  test('a confined reader reads them, too, and nothing else', async () => {
    const confinement = { memoryMb: 200, temporaryMb: 200, scratch: freshFolder() };
    const reader = await openTestReader(path, { confinement });
    const local = await openTestReader(folder);
    const sql = "SELECT count(*), sum(lt) FROM items WHERE block_date BETWEEN '2026-05-03' AND '2026-05-05'";
    expect((await reader.query(sql)).rows).toEqual((await local.query(sql)).rows);
    await expect(reader.query(`SELECT * FROM read_text('${folder}/tonlake.json')`)).rejects.toThrow(
      /disabled|Permission/,
    );
  });
});
