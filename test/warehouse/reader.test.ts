import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import type { TableDef } from '../../src/declare/table.ts';
import { Database } from '../../src/sql/database.ts';
import { Instance } from '../../src/sql/instance.ts';
import { repairWarehouse } from '../../src/verify/repair.ts';
import { verifyWarehouse } from '../../src/verify/verify.ts';
import { LedgerFolder } from '../../src/warehouse/ledger/ledger-folder.ts';
import { pathsIn } from '../../src/warehouse/parquet-store/entry-files.ts';
import { retireFile } from '../../src/warehouse/parquet-store/pinned-files.ts';
import { WarehouseViews } from '../../src/warehouse/relations/warehouse-views.ts';
import { freshFolder } from '../scratch.ts';
import { items, parts } from './tables.ts';
import {
  addItems,
  clockAt,
  commitItems,
  copyOf,
  countItems,
  editFile,
  entryPath,
  freshPath,
  listAll,
  makeItems,
  openTestReader,
  openTestStore,
  queryFile,
  type StoreKind,
  withStore,
} from './warehouses.ts';

const tables = [items, parts];

test('a query reads its tables at one commit, also if another comes while its views are made', async () => {
  const path = freshPath('parquet');
  const store = await openTestStore(path);
  await commitItems(store, 0, 9);
  const ledger = new LedgerFolder(path);
  await ledger.refresh();
  let commits = 0;
  const scanOf = async (_: Database, table: TableDef): Promise<undefined> => {
    if (table.name !== 'items' || ++commits > 1) return;
    await commitItems(store, 10, 19);
    await ledger.refresh();
  };
  const scans = { confine: async () => [], scanOf };
  const instance = new Instance({});
  const views = new WarehouseViews({ path, ledger, tables, pathOf: pathsIn(path), instance, scans });
  expect(await countItems(views)).toEqual({ rows: 10, distinct: 10, parts: 20 });
  expect(await countItems(views)).toEqual({ rows: 20, distinct: 20, parts: 40 });
  await views.close();
  await instance.close();
});

describe.each<StoreKind>(['parquet', 'duckdb'])('%s', (kind) => {
  test('where nothing is, a reader says so and makes nothing', async () => {
    const path = freshPath(kind);
    for (const _turn of [1, 2]) {
      await expect(openTestReader(path)).rejects.toMatchObject({ code: 'no-warehouse', hint: expect.any(String) });
    }
  });

  test('a reader has the rows, the ledger and the network', async () => {
    const path = freshPath(kind);
    const entry = await withStore(path, (store) => commitItems(store, 1, 10));
    const reader = await openTestReader(path);
    expect(reader).toMatchObject({ kind, path, network: 'sandbox' });
    expect(await countItems(reader)).toEqual({ rows: 10, distinct: 10, parts: 20 });
    expect(await reader.ledger()).toEqual([entry]);
  });

  test('a reader that was closed answers no more', async () => {
    const path = await makeItems(kind);
    const reader = await openTestReader(path);
    await reader.query('SELECT 1');
    await reader.close();
    await expect(reader.query('SELECT 1')).rejects.toMatchObject({ stage: 'store' });
  });

  test('a reader cannot write', async () => {
    const path = await makeItems(kind);
    const reader = await openTestReader(path);
    await expect(reader.query('INSERT INTO items SELECT * FROM items')).rejects.toMatchObject({ stage: 'store' });
  });
});

test('a reader of a Parquet warehouse sees each commit at once while the writer goes on', async () => {
  const path = freshPath('parquet');
  const store = await openTestStore(path);
  const reader = await openTestReader(path);
  for (let n = 0; n < 4; n++) {
    await commitItems(store, n * 10 + 1, n * 10 + 10);
    expect((await countItems(reader)).rows).toBe((n + 1) * 10);
    expect((await reader.files('items')).length).toBe(n + 1);
    expect((await reader.ledger()).length).toBe(n + 1);
  }
});

test('a reader of a Parquet warehouse that stays open keeps nothing of files that it has read', async () => {
  const path = freshPath('parquet');
  const store = await openTestStore(path);
  await commitItems(store, 1, 10);
  const reader = await openTestReader(path);
  await countItems(reader);
  const { rows } = await reader.query('SELECT count(*)::INTEGER FROM duckdb_external_file_cache()');
  expect(rows).toEqual([[0]]);
});

test('many questions at once to one reader while the writer commits', async () => {
  const path = freshPath('parquet');
  const store = await openTestStore(path);
  const reader = await openTestReader(path);
  const asked = Array.from({ length: 20 }, () => countItems(reader));
  await commitItems(store, 1, 10);
  asked.push(...Array.from({ length: 20 }, () => countItems(reader)));
  for (const { rows, distinct, parts: partRows } of await Promise.all(asked)) {
    expect(distinct).toBe(rows);
    expect(partRows).toBe(rows * 2);
  }
});

test('a DuckDB file that is being written is refused to readers, with a hint to the other store', async () => {
  const path = freshPath('duckdb');
  await openTestStore(path);
  await expect(openTestReader(path)).rejects.toMatchObject({
    code: 'busy',
    message: expect.stringContaining('is being written by process'),
    hint: expect.stringContaining('parquet'),
  });
});

test('a DuckDB file that another program holds is refused', async () => {
  const path = await makeItems('duckdb');
  const script = `
    import { DuckDBInstance } from '@duckdb/node-api';
    globalThis.held = await DuckDBInstance.create(${JSON.stringify(path)});
    console.log('up');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script]);
  await once(child.stdout, 'data');
  await expect(openTestStore(path)).rejects.toMatchObject({ code: 'busy', hint: expect.any(String) });
  await expect(openTestReader(path)).rejects.toMatchObject({ code: 'busy' });
  child.kill('SIGKILL');
  await once(child, 'exit');
  await (await openTestStore(path)).close();
});

test('a DuckDB file whose writer was killed can be read, with all that was committed', async () => {
  const path = freshPath('duckdb');
  const store = await openTestStore(path);
  await commitItems(store, 1, 10);
  const copy = freshFolder();
  await copyFile(path, join(copy, 'w.duckdb'));
  await copyFile(`${path}.wal`, join(copy, 'w.duckdb.wal'));
  await store.close();
  const reader = await openTestReader(join(copy, 'w.duckdb'));
  expect((await countItems(reader)).rows).toBe(10);
});

test('superseded files stay for the grace period, then the next writer removes them', async () => {
  const path = freshPath('parquet');
  const effects = clockAt(1_000_000_000_000);
  const open = () => openTestStore(path, { effects, graceMs: 60_000 });
  const store = await open();
  const first = await commitItems(store, 1, 10);
  const reader = await openTestReader(path);
  const before = await reader.files('items');
  await commitItems(store, 1, 10, { supersedes: [first.id] });
  expect(await store.clearSuperseded()).toBe(0);
  await store.close();
  const database = await Database.open();
  const readOld = () =>
    database.query(`SELECT count(*) FROM read_parquet('${before[0]?.replace('/tables/', '/pinned/')}')`);
  effects.time += 59_000;
  await (await open()).close();
  expect((await readOld()).rows).toEqual([[10n]]);
  effects.time += 1_000;
  await open();
  await expect(readOld()).rejects.toThrow();
  expect((await countItems(reader)).rows).toBe(10);
  database.close();
});

test('the catalog can be opened by any DuckDB, and follows the warehouse at its end', async () => {
  const path = await makeItems('parquet', [1, 10], [11, 20]);
  const counts = 'SELECT count(*), (SELECT count(*) FROM _commits) FROM items';
  expect(await queryFile(path, counts)).toEqual([[20n, 2n]]);
  const moved = join(freshFolder(), "it's [new]=1*");
  await rename(path, moved);
  await (await openTestStore(moved)).close();
  expect(await queryFile(moved, counts)).toEqual([[20n, 2n]]);
});

test('the catalog is written during a run, at most once in its interval, and a log of others beside it goes', async () => {
  const path = freshPath('parquet');
  const catalog = join(path, 'warehouse.duckdb');
  let built = 0;
  /** Ends the time that is waited for. */
  const waits: (() => void)[] = [];
  const store = await openTestStore(path, {
    effects: { ...realEffects, sleep: () => new Promise((resolve) => waits.push(resolve)) },
    onStep: async (step) => {
      if (step === 'write catalog') built++;
    },
  });
  const count = async () =>
    existsSync(catalog) ? (await queryFile(path, 'SELECT count(*) FROM items'))[0]?.[0] : undefined;
  for (const written of [0, 1]) {
    for (let n = 6 * written; n < 6 * written + 6; n++) await commitItems(store, n * 10 + 1, n * 10 + 10);
    expect([built, waits.length]).toEqual([written, written + 1]);
    waits[written]?.();
    await vi.waitUntil(async () => (await count()) === BigInt(60 * (written + 1)), 60_000);
    expect(existsSync(`${catalog}.wal`)).toBe(false);
    await writeFile(`${catalog}.wal`, 'left by somebody');
  }
  expect(built).toBe(2);
});

test('catalogs that one process makes know the tables of their own warehouses alone', async () => {
  const viewsOf = async (tables: readonly TableDef[]): Promise<readonly unknown[]> => {
    const path = freshPath('parquet');
    await (await openTestStore(path, { tables })).close();
    for (const view of states) expect(await queryFile(path, `FROM ${view}`)).toEqual([]);
    expect(await queryFile(path, 'SELECT ton(1500000000)')).toHaveLength(1);
    const views = "SELECT view_name FROM duckdb_views() WHERE NOT internal AND schema_name = 'main' ORDER BY ALL";
    return (await queryFile(path, views)).flat();
  };
  const other = { ...items, name: 'others' };
  const states = ['_commits', '_coverage', '_freshness'];
  for (const _turn of [1, 2]) {
    expect(await viewsOf([items])).toEqual([...states, 'items']);
    expect(await viewsOf([items, parts])).toEqual([...states, 'items', 'parts']);
    expect(await viewsOf([other])).toEqual([...states, 'others']);
  }
});

test('an open reader of the catalog is not disturbed when it is replaced', async () => {
  const path = await makeItems('parquet', [1, 10]);
  const database = await Database.open(join(path, 'warehouse.duckdb'), { access_mode: 'READ_ONLY' });
  await addItems(path, [11, 20]);
  expect((await database.query('SELECT count(*) FROM items')).rows).toEqual([[10n]]);
  database.close();
});

test('a torn, a missing and a foreign file in the ledger are clear errors', async () => {
  const path = await makeItems('parquet', [1, 10], [11, 20]);
  const damages: Readonly<Record<string, (copy: string) => Promise<void>>> = {
    '00000002.json is not a ledger entry': (copy) => writeFile(entryPath(copy, 2), '{"format":1,'),
    '00000001.json is missing': (copy) => rm(entryPath(copy, 1)),
    'copy.json is not part of a ledger': (copy) => writeFile(join(copy, '_ledger/copy.json'), '{}'),
    '00000002.json is missing': (copy) => rename(entryPath(copy, 2), entryPath(copy, 3)),
    'has no tonlake.json': (copy) => rm(join(copy, 'tonlake.json')),
  };
  for (const [message, damage] of Object.entries(damages)) {
    const copy = copyOf(path);
    await damage(copy);
    const expected = { code: 'bad-ledger', message: expect.stringContaining(message), hint: expect.any(String) };
    await expect(openTestReader(copy)).rejects.toMatchObject(expected);
    await expect(openTestStore(copy)).rejects.toMatchObject(expected);
  }
});

test('what a newer tonlake made is told so: to update, never to repair', async () => {
  const [identity, entry] = [await makeItems('parquet', [1, 10]), await makeItems('parquet', [1, 10])];
  await writeFile(join(identity, 'tonlake.json'), '{"format":7,"networks":["sandbox"]}');
  const file = entryPath(entry, 1);
  const text = (await readFile(file, 'utf8')).replace('"format":1', '"format":7').replace('"verdict"', '"state"');
  await writeFile(file, text);
  const [oneFile, row] = [await makeItems('duckdb', [1, 10]), await makeItems('duckdb', [1, 10])];
  await editFile(oneFile, "UPDATE _meta SET value = '7' WHERE name = 'format'");
  await editFile(row, `UPDATE _ledger SET entry = replace(entry, '"format":1', '"format":7')`);
  for (const path of [identity, entry, oneFile, row]) {
    const told = /^store: .* was made by a newer tonlake( \(.*\))?: expected format 1, got 7$/;
    const newer = {
      code: 'newer-tonlake',
      message: expect.stringMatching(told),
      hint: expect.stringMatching(/^upgrade: /),
    };
    await expect(openTestReader(path)).rejects.toMatchObject(newer);
    await expect(openTestStore(path)).rejects.toMatchObject(newer);
    await expect(verifyWarehouse({ warehouse: path })).rejects.toMatchObject(newer);
    await expect(repairWarehouse({ warehouse: path })).rejects.toMatchObject(newer);
  }
  expect(await readFile(file, 'utf8')).toBe(text);
});

test('a data file in force that lies with the superseded ones comes back; one that is nowhere is an error', async () => {
  const path = freshPath('parquet');
  const entry = await withStore(path, (store) => commitItems(store, 1, 10));
  const file = entry.tables['items']?.files[0]?.path ?? '';
  await retireFile(path, file);
  expect(await listAll(path)).not.toContain(file);
  const again = await openTestStore(path);
  expect((await countItems(again)).rows).toBe(10);
  await again.close();
  expect(await listAll(path)).toContain(file);
  await rm(join(path, file));
  await expect(openTestStore(path)).rejects.toMatchObject({ code: 'damaged' });
});

test('a file where a folder is needed is refused', async () => {
  const folder = freshFolder();
  await writeFile(join(folder, 'w'), 'text');
  await expect(openTestStore(join(folder, 'w'), { kind: 'parquet' })).rejects.toMatchObject({ code: 'wrong-kind' });
  await mkdir(join(folder, 'd.duckdb'));
  await expect(openTestReader(join(folder, 'd.duckdb'))).rejects.toMatchObject({ code: 'no-warehouse' });
});

test('a path with a question mark is refused, since DuckDB would write elsewhere', async () => {
  await expect(openTestStore(join(freshFolder(), 'w?'))).rejects.toThrow(
    /^usage: expected a path without a question mark for a warehouse, got /,
  );
});

test('the files of a date are found by their folder', async () => {
  const path = freshPath('parquet');
  const store = await openTestStore(path);
  await commitItems(store, 0, 299, { perDay: 100 });
  const { rows } = await store.query('SELECT block_date::VARCHAR, count(*) FROM items GROUP BY 1 ORDER BY 1');
  expect(rows).toEqual([
    ['2026-05-01', 100n],
    ['2026-05-02', 100n],
    ['2026-05-03', 100n],
  ]);
  const { rows: plan } = await store.query("EXPLAIN SELECT * FROM items WHERE block_date = DATE '2026-05-02'");
  expect(String(plan[0]?.[1])).toMatch(/1\/3/);
});
