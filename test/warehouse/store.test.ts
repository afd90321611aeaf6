import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { decimal38 } from '../../src/declare/column.ts';
import { Instance } from '../../src/sql/instance.ts';
import { openReader, openStore } from '../../src/warehouse/open-store.ts';
import { Stager } from '../../src/warehouse/staging/stager.ts';
import { freshFolder } from '../scratch.ts';
import { makeBatchOf, readBack } from './batches.ts';
import { withoutLinks } from './filesystem.ts';
import { itemRows, items, parts } from './tables.ts';
import {
  changedItems,
  commitItems,
  commitRows,
  countItems,
  draftOf,
  editFile,
  freshPath,
  listAll,
  makeItems,
  openTestStore,
  queryFile,
  type StoreKind,
  stageItems,
  stageRows,
} from './warehouses.ts';

describe.each<StoreKind>(['parquet', 'duckdb'])('%s', (kind) => {
  test('a new warehouse has every table, without rows', async () => {
    const store = await openTestStore(freshPath(kind));
    expect(await countItems(store)).toEqual({ rows: 0, distinct: 0, parts: 0 });
    expect(store.ledger()).toEqual([]);
  });

  test('rows are there after their commit, and not before', async () => {
    const store = await openTestStore(freshPath(kind));
    const staged = await stageItems(store, { from: 1, to: 100 });
    expect((await countItems(store)).rows).toBe(0);
    const entry = await store.commit(staged, draftOf({ from: 1, to: 100 }));
    expect(await countItems(store)).toEqual({ rows: 100, distinct: 100, parts: 200 });
    expect(entry).toMatchObject({ number: 1, network: 'sandbox', pipeline: 'items', span: { from: 1, to: 100 } });
    expect(entry.tables['items']).toMatchObject({ rows: 100, sums: { lt: '5050000', fees: '297' } });
  });

  test('rows and ledger are there when the warehouse is opened again', async () => {
    const path = freshPath(kind);
    const store = await openTestStore(path);
    const first = await commitItems(store, 1, 50);
    const second = await commitItems(store, 51, 60);
    await store.close();
    const again = await openTestStore(path);
    expect(again.ledger()).toEqual([first, second]);
    expect(await countItems(again)).toEqual({ rows: 60, distinct: 60, parts: 120 });
  });

  test('it is the same on a file system without hard links', () =>
    withoutLinks(async () => {
      const path = freshPath(kind);
      const store = await openTestStore(path);
      const entry = await commitItems(store, 1, 50);
      await expect(openTestStore(path)).rejects.toMatchObject({ code: 'busy' });
      await store.close();
      const again = await openTestStore(path);
      expect(again.ledger()).toEqual([entry]);
      expect(await countItems(again)).toEqual({ rows: 50, distinct: 50, parts: 100 });
      await again.close();
    }));

  test('every value comes back as it was written, sorted within its file', async () => {
    const store = await openTestStore(freshPath(kind));
    const rows = itemRows(1, 300, 100);
    await commitRows(store, items, rows.toReversed(), { from: 1, to: 300 });
    const { rows: found } = await store.query('SELECT * FROM items ORDER BY lt');
    const names = items.columns.map(({ name }) => name);
    expect(found.map((row) => row.map(readBack))).toEqual(rows.map((row) => names.map((name) => row[name] ?? null)));
  });

  test('of rows with one key the newest is there', async () => {
    const store = await openTestStore(freshPath(kind));
    const [row = {}, other = {}] = itemRows(1, 2);
    const span = { from: 1, to: 2 };
    const stage = store.stage(span);
    await stage.write(makeBatchOf(items, [{ ...row, fees: 5n }, other, { ...row, fees: 6n }]));
    const staged = await stage.finish({ newest: { items: { key: ['hash'], column: undefined } } });
    await store.commit(staged, draftOf(span));
    const { rows } = await store.query('SELECT hash, fees FROM items ORDER BY lt');
    expect(rows.map(([hash, fees]) => [hash, Number(fees)])).toEqual([
      ['hash-1', 6],
      ['hash-2', 2],
    ]);
  });

  test('an entry that supersedes others takes the place of their rows', async () => {
    const store = await openTestStore(freshPath(kind));
    const first = await commitItems(store, 1, 10);
    const second = await commitItems(store, 11, 20);
    const third = await commitItems(store, 21, 30);
    const joined = await commitItems(store, 1, 20, { supersedes: [first.id, second.id] });
    expect(store.ledger()).toEqual([third, joined]);
    expect(await countItems(store)).toEqual({ rows: 30, distinct: 30, parts: 60 });
    await expect(commitItems(store, 1, 10, { supersedes: [first.id] })).rejects.toMatchObject({ code: 'not-in-force' });
  });

  test('_commits tells of the entries in force', async () => {
    const store = await openTestStore(freshPath(kind));
    const first = await commitItems(store, 1, 10);
    await commitItems(store, 1, 20, { supersedes: [first.id] });
    const { columns, rows } = await store.query(
      "SELECT pipeline, span_from, span_to, verdict, (rows->>'items')::INTEGER, committed_at FROM _commits",
    );
    expect(rows.map((row) => row.slice(0, 5))).toEqual([['items', 1n, 20n, 'accepted', 20]]);
    expect(columns.at(-1)).toEqual({ name: 'committed_at', type: 'TIMESTAMP' });
  });

  test('a query takes named parameters', async () => {
    const store = await openTestStore(freshPath(kind));
    await commitItems(store, 1, 10);
    const { rows } = await store.query('SELECT count(*) FROM items WHERE lt >= $lt', { lt: 8000n });
    expect(rows).toEqual([[3n]]);
    await expect(store.query('SELECT nothing FROM items')).rejects.toMatchObject({ stage: 'store' });
  });

  test('a long query on a connection of its own holds up neither queries nor commits, and can be cancelled', async () => {
    const store = await openTestStore(freshPath(kind));
    const beside = await store.connect();
    const long = beside.query('SELECT sum(a.range * b.range) FROM range(10_000_000) a, range(10_000_000) b');
    const cancelled = expect(long).rejects.toThrow(/interrupt/i);
    await commitItems(store, 1, 10);
    expect((await countItems(store)).rows).toBe(10);
    // The query may not have begun yet.
    const isOver = { now: false };
    void long.catch(() => undefined).then(() => Object.assign(isOver, { now: true }));
    await vi.waitUntil(() => {
      beside.interrupt();
      return isOver.now;
    });
    await cancelled;
    expect((await countItems({ query: beside.query })).rows).toBe(10);
    await beside.close();
  });

  test('commits at the same time are one after the other', async () => {
    const store = await openTestStore(freshPath(kind));
    const entries = await Promise.all([1, 2, 3, 4, 5].map((n) => commitItems(store, n * 10, n * 10 + 9)));
    expect(entries.map(({ number }) => number).sort()).toEqual([1, 2, 3, 4, 5]);
    expect((await countItems(store)).rows).toBe(50);
  });

  test('a span without rows can be committed, with tables and without', async () => {
    const store = await openTestStore(freshPath(kind));
    const entry = await commitRows(store, items, [], { from: 1, to: 5 });
    expect(entry.tables['items']).toMatchObject({ rows: 0, keyHash: '0', sums: { lt: '0', fees: '0' }, files: [] });
    const empty = await store.commit(await store.stage({ from: 6, to: 6 }).finish(), draftOf({ from: 6, to: 6 }));
    expect(empty.tables).toEqual({});
  });

  test('a query that needs more memory than a store reads with gets it, and leaves the limit as it was', async () => {
    const store = await openTestStore(freshPath(kind));
    const limit = async () => (await store.query("SELECT current_setting('memory_limit')")).rows;
    const before = await limit();
    const large = "SELECT length(string_agg(repeat('x', 20000), '')) FROM range(8000)";
    const connection = await store.connect();
    for (const { query } of [store, connection]) expect((await query(large)).rows).toEqual([[160_000_000n]]);
    expect(await limit()).toEqual(before);
    await connection.close();
  });

  test('a discarded stage leaves nothing', async () => {
    const path = freshPath(kind);
    const store = await openTestStore(path);
    const stage = store.stage({ from: 1, to: 5 });
    await stage.write(makeBatchOf(items, itemRows(1, 5)));
    await stage.discard();
    expect(await listAll(store.staging.stagingPath)).toEqual([]);
  });

  test('a stager by itself, as a worker thread has it, makes spans that the store commits', async () => {
    const store = await openTestStore(freshPath(kind));
    const instance = new Instance({});
    const stager = new Stager(structuredClone(store.staging), instance, realEffects.freshId);
    const stage = stager.stage({ from: 1, to: 9 });
    await stage.write(makeBatchOf(items, itemRows(1, 9)));
    const staged = structuredClone(await stage.finish());
    await instance.close();
    await store.commit(staged, draftOf({ from: 1, to: 9 }));
    expect((await countItems(store)).rows).toBe(9);
  });

  test('rows of a table that is declared otherwise, or not at all, are refused', async () => {
    const store = await openTestStore(freshPath(kind), { tables: [items] });
    await expect(commitItems(store, 1, 5)).rejects.toMatchObject({ message: 'store: table parts is not declared' });
    const shorter = changedItems((columns) => columns.slice(0, -1));
    await expect(commitRows(store, shorter, itemRows(1, 5), { from: 1, to: 5 })).rejects.toMatchObject({
      message: 'store: table items is declared otherwise than its staged rows',
    });
  });

  test('a quarantined span cannot bring rows of other tables', async () => {
    const store = await openTestStore(freshPath(kind));
    await expect(commitItems(store, 1, 5, { verdict: 'quarantined' })).rejects.toThrow(
      'store: a quarantined span cannot hold rows of items',
    );
    expect((await countItems(store)).rows).toBe(0);
  });

  test('a warehouse of another network is refused, and stays as it is', async () => {
    const path = await makeItems(kind);
    const before = await listAll(dirname(path));
    await expect(openTestStore(path, { network: 'mainnet' })).rejects.toMatchObject({
      code: 'other-network',
      message: `store: warehouse ${path} holds sandbox, not mainnet`,
    });
    expect(await listAll(dirname(path))).toEqual(before);
    await (await openTestStore(path)).close();
  });

  test('a second writer is refused, and told who the first is', async () => {
    const path = freshPath(kind);
    const store = await openTestStore(path);
    const error = await openTestStore(path).catch((reason) => reason);
    expect(error.message).toMatch(
      /^store: warehouse .* is being written by process \d+, this one, since [-0-9T:]+Z \(tonlake run x\)$/,
    );
    expect(error).toMatchObject({ code: 'busy', hint: expect.stringContaining('wait for it to end') });
    await store.close();
    await (await openTestStore(path)).close();
  });

  test('a column that is declared later is null in older rows', async () => {
    const path = await makeItems(kind, [1, 10]);
    const added = decimal38('/amount', 'amount')
      .nullable()
      .named('amount', () => undefined);
    const later = changedItems((columns) => [...columns.slice(0, 2), added, ...columns.slice(2)]);
    const again = await openTestStore(path, { tables: [later, parts] });
    const newer = itemRows(11, 12).map((row) => ({ ...row, amount: 5n }));
    await commitRows(again, later, newer, { from: 11, to: 12 });
    const { rows } = await again.query('SELECT count(*), count(amount), sum(amount)::BIGINT FROM items');
    expect(rows).toEqual([[12n, 2n, 10n]]);
    const { columns } = await again.query('SELECT * FROM items');
    expect(columns.map(({ name }) => name)).toEqual(later.columns.map(({ name }) => name));
    await again.close();
    const reader = await openReader(path, [later, parts]);
    expect((await reader.query('SELECT count(amount) FROM items')).rows).toEqual([[2n]]);
    await reader.close();
  });

  test('any other change of columns needs a migration, and names the column', async () => {
    const path = await makeItems(kind, [1, 10]);
    const removed = changedItems((columns) => columns.filter(({ name }) => name !== 'fees'));
    const retyped = changedItems((columns) =>
      columns.map((column) => (column.name === 'fees' ? { ...column, kind: 'decimal-38' as const } : column)),
    );
    await expect(openTestStore(path, { tables: [removed, parts] })).rejects.toMatchObject({
      code: 'needs-migration',
      message: `store: warehouse ${path} holds column items.fees as BIGINT, which is not declared any more`,
    });
    for (const open of [
      (table: typeof items) => openTestStore(path, { tables: [table, parts] }),
      (table: typeof items) => openReader(path, [table, parts]),
    ]) {
      await expect(open(retyped)).rejects.toMatchObject({
        code: 'needs-migration',
        message: `store: warehouse ${path} holds column items.fees as BIGINT, which is declared as DECIMAL(38,0) now`,
      });
    }
    await (await openTestStore(path)).close();
  });

  test('closing leaves no lock, no staged files and no log', async () => {
    const path = await makeItems(kind, [1, 10]);
    const files = (await listAll(join(path, '..'))).map((name) => name.replace(/[0-9a-f]{12}/g, 'ID'));
    expect(files).toEqual(
      kind === 'duckdb'
        ? ['w.duckdb']
        : [
            'w/_checkpoints/catalog.sha256',
            'w/_checkpoints/settled.json',
            'w/_ledger/00000001.json',
            'w/_ledger/schema-ID.json',
            'w/_ledger/schema-ID.json',
            'w/tables/items/block_date=2026-05-01/1-10-ID.parquet',
            'w/tables/parts/1-10-ID.parquet',
            'w/tonlake.json',
            'w/warehouse.duckdb',
          ],
    );
  });

  test('a path inside a file is refused with a hint', async () => {
    const file = join(freshFolder(), 'file');
    await writeFile(file, 'text');
    await expect(openTestStore(join(file, 'below', kind === 'duckdb' ? 'w.duckdb' : 'w'))).rejects.toMatchObject({
      code: 'wrong-path',
      hint: expect.any(String),
    });
  });
});

test('both stores keep the same evidence', async () => {
  const entries = [];
  for (const kind of ['parquet', 'duckdb'] as const) {
    const store = await openTestStore(freshPath(kind));
    const entry = await commitItems(store, 1, 5000, { perDay: 1000 });
    entries.push(
      Object.values(entry.tables).map(({ rows, keyHash, sums, schema }) => ({ rows, keyHash, sums, schema })),
    );
    await store.close();
  }
  expect(entries[0]).toEqual(entries[1]);
});

test('the path chooses the store, unless something lies there', async () => {
  const folder = freshFolder();
  const open = (name: string, kind?: StoreKind) =>
    openStore({
      path: join(folder, name),
      network: 'sandbox',
      tables: [items],
      pipelines: [],
      effects: realEffects,
      ...(kind === undefined ? {} : { kind }),
    });
  for (const [name, kind] of [
    ['a', 'parquet'],
    ['a.duckdb', 'duckdb'],
  ] as const) {
    const store = await open(name);
    expect(store.kind).toBe(kind);
    await store.close();
  }
  await expect(open('a', 'duckdb')).rejects.toMatchObject({ code: 'wrong-kind' });
  await expect(open('a.duckdb', 'parquet')).rejects.toMatchObject({ code: 'wrong-kind' });
  await (await open('b.duckdb', 'parquet')).close();
  const again = await open('b.duckdb');
  expect(again.kind).toBe('parquet');
});

test('a file that is no DuckDB file is refused, and not touched', async () => {
  const folder = freshFolder();
  await writeFile(join(folder, 'w.duckdb'), 'some text that is no database at all');
  await writeFile(join(folder, 'empty.duckdb'), '');
  for (const name of ['w', 'empty']) {
    const path = join(folder, `${name}.duckdb`);
    const expected = { code: 'no-database', message: `store: warehouse ${path} is not a DuckDB file` };
    await expect(openTestStore(path)).rejects.toMatchObject(expected);
    await expect(openReader(path, [items])).rejects.toMatchObject(expected);
  }
  expect(await listAll(folder)).toEqual(['empty.duckdb', 'w.duckdb']);
});

test('a DuckDB file of somebody else is refused', async () => {
  const path = freshPath('duckdb');
  await editFile(path, 'CREATE TABLE t (a INTEGER)');
  await expect(openTestStore(path)).rejects.toThrow(`store: ${path} is a DuckDB file, but not a tonlake warehouse`);
});

test('a folder with files of others can become a warehouse, and they stay', async () => {
  const folder = freshFolder();
  await writeFile(join(folder, 'README.md'), 'mine');
  await mkdir(join(folder, 'tables'));
  await writeFile(join(folder, 'tables', 'notes.parquet'), 'mine too');
  await (await openTestStore(folder)).close();
  expect(await listAll(folder)).toEqual(expect.arrayContaining(['README.md', 'tables/notes.parquet']));
});

test('what is left of repeated keys is compressed as all rows are', async () => {
  const store = await openTestStore(freshPath('parquet'));
  const rows = itemRows(1, 100);
  const stage = store.stage({ from: 1, to: 100 });
  await stage.write(makeBatchOf(items, [...rows, ...rows]));
  const { tables } = await stage.finish({ newest: { items: { key: ['hash'], column: undefined } } });
  expect(tables['items']?.rows).toBe(100);
  const [file] = tables['items']?.files ?? [];
  const { rows: found } = await store.query(`SELECT DISTINCT compression FROM parquet_metadata('${file?.stagedPath}')`);
  expect(found).toEqual([['ZSTD']]);
});

test('rows that are written anew are in row groups that are bounded by the bytes of the rows, however well they compress', async () => {
  const store = await openTestStore(freshPath('parquet'));
  const comment = 'x'.repeat(4096);
  const rows = itemRows(1, 20_000).map((row) => ({ ...row, comment }));
  const staged = await stageRows(store, items, rows.toReversed(), { from: 1, to: 20_000 });
  const [file] = staged.tables['items']?.files ?? [];
  expect(file?.bytes).toBeLessThan(8 * 2 ** 20);
  const { rows: groups } = await store.query(
    `SELECT DISTINCT row_group_id, row_group_num_rows FROM parquet_metadata('${file?.stagedPath}') ORDER BY 1`,
  );
  // 32 MB of rows of 4 kB.
  expect(groups.map(([, size]) => Number(size))).toEqual([6144, 6144, 6144, 1568]);
});

test('views and macros of a DuckDB file are made once, and again where they are missing or of another version', async () => {
  const path = freshPath('duckdb');
  const kept = "SELECT value FROM _meta WHERE name = 'declared'";
  await (await openTestStore(path)).close();
  await editFile(path, 'CREATE OR REPLACE MACRO ton(x) AS 77');
  const made = await queryFile(path, kept);
  expect(made).toEqual([[expect.stringMatching(/^[0-9a-f]{64}$/)]]);
  const same = await openTestStore(path);
  expect((await same.query('SELECT ton(5)::INTEGER')).rows).toEqual([[77]]);
  await same.close();
  await editFile(path, 'DROP VIEW items');
  const mended = await openTestStore(path);
  expect((await mended.query('SELECT count(*) FROM items')).rows).toEqual([[0n]]);
  await mended.close();
  await editFile(
    path,
    "UPDATE _meta SET value = 'older' WHERE name = 'declared'; CREATE OR REPLACE MACRO ton(x) AS 77",
  );
  const newer = await openTestStore(path);
  expect((await newer.query('SELECT ton(5)::VARCHAR')).rows).toEqual([['0.000000005']]);
  await newer.close();
  expect(await queryFile(path, kept)).toEqual(made);
});

test('DuckDB files that a process makes have the tables and the network of their own, in blocks of one size', async () => {
  const made = [
    { tables: [items], network: 'one' },
    { tables: [items, parts], network: 'one' },
    { tables: [items], network: 'two' },
    { tables: [items], network: 'one' },
  ];
  for (const { tables, network } of made) {
    const path = freshPath('duckdb');
    await (await openTestStore(path, { tables, network })).close();
    const rows = await queryFile(
      path,
      `SELECT (SELECT list(table_name ORDER BY table_name) FROM duckdb_tables() WHERE schema_name = '_rows')::VARCHAR,
        (SELECT value FROM _meta WHERE name = 'network'), (SELECT block_size::INTEGER FROM pragma_database_size())`,
    );
    expect(rows).toEqual([[`[${tables.map(({ name }) => name).join(', ')}]`, network, 65_536]]);
  }
});
