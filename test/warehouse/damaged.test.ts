import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { compactWarehouse } from '../../src/warehouse/compaction/compact.ts';
import { freshFolder } from '../scratch.ts';
import { items, parts } from './tables.ts';
import {
  commitItems,
  editFile,
  entryPath,
  look,
  makeItems,
  openTestStore,
  type StoreKind,
  withStore,
} from './warehouses.ts';

const tables = [items, parts];
const fill = { effects: realEffects, command: 'tonlake verify --repair' };

/** A warehouse of three commits: 1000:1001, 1002:1003 and 1004:1005. */
const makeWarehouse = (kind: StoreKind) => makeItems(kind, [1000, 1001], [1002, 1003], [1004, 1005]);

/** Takes an entry out of the ledger, or makes it unreadable. */
async function loseEntry(kind: StoreKind, path: string, number: number, isBroken: boolean): Promise<void> {
  if (kind === 'parquet') {
    if (isBroken) writeFileSync(entryPath(path, number), '{"format":1,');
    else rmSync(entryPath(path, number));
    return;
  }
  const change = isBroken ? `UPDATE _ledger SET entry = '{"format":1,'` : 'DELETE FROM _ledger';
  await editFile(path, `${change} WHERE number = ${number}`);
}

describe.each<StoreKind>(['parquet', 'duckdb'])('a damaged %s warehouse', (kind) => {
  test('that is sound shows its entries, their rows, and no fault', async () => {
    const path = await makeWarehouse(kind);
    await look(path, async ({ database, select, selectEach, ...damaged }) => {
      expect(damaged).toMatchObject({
        kind,
        path,
        network: 'sandbox',
        lost: [],
        filled: [],
        forgotten: [],
        faults: [],
      });
      expect(damaged.entries.map(({ span }) => span.from)).toEqual([1000, 1002, 1004]);
      const [, second] = damaged.entries;
      if (second === undefined) throw new Error('expected a second entry');
      const one = await database.query(`SELECT min(lt), max(lt) FROM (${select(items, [second])})`);
      expect(one.rows).toEqual([[1_002_000n, 1_003_000n]]);
      const { sql, by, ownerOf } = selectEach(items, damaged.entries);
      const each = await database.query(`SELECT ${by}::VARCHAR, min(lt) FROM (${sql}) GROUP BY ALL ORDER BY 2`);
      expect(each.rows.map(([value, from]) => [ownerOf(value)?.entry, from])).toEqual([
        [1, 1_000_000n],
        [2, 1_002_000n],
        [3, 1_004_000n],
      ]);
    });
  });

  test.each([
    { what: 'lost', isBroken: false, kindOfFault: 'entry-lost' },
    { what: 'broken', isBroken: true, kindOfFault: 'entry-broken' },
  ])(
    'tells whose a $what entry was, and can be written again once its number is filled',
    async ({ isBroken, kindOfFault }) => {
      const path = await makeWarehouse(kind);
      await loseEntry(kind, path, 2, isBroken);
      const damaged = await look(path, (found) => found);
      // The catalog tells its span, and rows tell their own.
      const span = kind === 'parquet' ? { from: 1002, to: 1003 } : { from: 1_002_000, to: 1_003_000 };
      expect(damaged.entries.map(({ number }) => number)).toEqual([1, 3]);
      const lost = { number: 2, isBroken, isGap: true, hasRows: kind === 'duckdb', pipeline: 'items' };
      expect(damaged.lost).toMatchObject([{ ...lost, span }]);
      expect(damaged.faults).toMatchObject([{ kind: kindOfFault, entry: 2, pipeline: 'items' }]);
      await expect(openTestStore(path)).rejects.toMatchObject({ code: 'bad-ledger' });
      await damaged.fillLedger(fill);
      await damaged.fillLedger(fill);
      const store = await openTestStore(path);
      await commitItems(store, 1002, 1003);
      const { rows } = await store.query('SELECT count(DISTINCT lt), count(*) = count(DISTINCT hash) FROM items');
      expect(rows).toEqual([[6n, true]]);
      await store.close();
      await look(path, ({ entries, filled, faults }) => {
        expect(entries.map(({ number }) => number)).toEqual([1, 3, 4]);
        expect(filled).toMatchObject([{ number: 2, pipeline: 'items', span }]);
        expect(faults).toEqual([]);
      });
    },
  );
});

test('a catalog that shows rows of another commit than the ledger has at that number is a fault', async () => {
  const path = await makeWarehouse('parquet');
  const other = join(freshFolder(), 'warehouse.duckdb');
  copyFileSync(join(path, 'warehouse.duckdb'), other);
  rmSync(entryPath(path, 3));
  const entry = await withStore(path, (store) => commitItems(store, 1006, 1007));
  expect(entry.number).toBe(3);
  expect(await look(path, ({ faults }) => faults)).toEqual([]);
  copyFileSync(other, join(path, 'warehouse.duckdb'));
  const faults = await look(path, (found) => found.faults);
  expect(faults).toMatchObject([
    { kind: 'commit-unknown', pipeline: 'items', span: { from: 1004, to: 1005 }, entry: 3 },
  ]);
});

test('a catalog that is torn tells nothing, and is no fault: it can be made again', async () => {
  const path = await makeWarehouse('parquet');
  writeFileSync(join(path, 'warehouse.duckdb'), readFileSync(join(path, 'warehouse.duckdb')).subarray(0, 5000));
  expect(await look(path, ({ faults, entries }) => [faults, entries.length])).toEqual([[], 3]);
});

test('files that are merged while a warehouse is checked are no damage', async () => {
  const path = await makeWarehouse('parquet');
  await look(path, async ({ entries, checkBytes, select, selectEach, database }) => {
    const [each, before] = [selectEach(items, entries), select(items, entries)];
    await compactWarehouse({ warehouse: path, tables, pipelines: [], effects: realEffects });
    for (const entry of entries) {
      const part = entry.tables['items'];
      if (part === undefined) throw new Error(`expected items in entry ${entry.number}`);
      expect(await checkBytes(part, database.query)).toEqual({ trust: 'proven', isShareable: true, faults: [] });
    }
    for (const sql of [before, select(items, entries)])
      expect((await database.query(`SELECT count(*) FROM (${sql})`)).rows).toEqual([[6n]]);
    for (const { sql, by, ownerOf } of [each, selectEach(items, entries)]) {
      const { rows } = await database.query(`SELECT DISTINCT ${by} FROM (${sql})`);
      expect(rows.map(([value]) => ownerOf(value)?.entry).sort()).toEqual([1, 2, 3]);
    }
  });
});

test('checkBytes tells what became of a file', async () => {
  const path = await makeWarehouse('parquet');
  const check = (number: number) =>
    look(path, ({ entries, checkBytes, database }) => {
      const part = entries.find((entry) => entry.number === number)?.tables['items'];
      if (part === undefined) throw new Error(`expected items in entry ${number}`);
      return checkBytes(part, database.query);
    });
  const fileOf = (number: number): string =>
    JSON.parse(readFileSync(entryPath(path, number), 'utf8')).tables.items.files[0].path;
  expect(await check(1)).toEqual({ trust: 'proven', isShareable: true, faults: [] });
  rmSync(join(path, fileOf(1)));
  expect(await check(1)).toMatchObject({
    trust: 'unreadable',
    isShareable: false,
    faults: [{ kind: 'file-missing', file: fileOf(1) }],
  });
  const second = join(path, fileOf(2));
  writeFileSync(second, Buffer.concat([readFileSync(second).subarray(0, 40), Buffer.alloc(40, 7)]));
  const torn = await check(2);
  expect(torn.trust).toBe('unreadable');
  expect(torn.faults.map(({ kind }) => kind)).toEqual(['file-changed', 'file-unreadable']);
});

test('a warehouse without its description has the network of its entries, and is described again', async () => {
  const path = await makeWarehouse('parquet');
  for (const damage of [
    () => rmSync(join(path, 'tonlake.json')),
    () => writeFileSync(join(path, 'tonlake.json'), '{'),
  ]) {
    damage();
    await look(path, async ({ network, faults, entries, fillLedger }) => {
      expect({ network, entries: entries.length }).toEqual({ network: 'sandbox', entries: 3 });
      expect(faults).toMatchObject([
        { kind: 'identity-lost', expected: 'tonlake.json that names sandbox, as the ledger does' },
      ]);
      await fillLedger(fill);
    });
    await look(path, ({ network, faults }) => expect({ network, faults }).toEqual({ network: 'sandbox', faults: [] }));
  }
  // Without one network in the entries, nobody knows it.
  rmSync(join(path, 'tonlake.json'));
  const text = readFileSync(entryPath(path, 2), 'utf8');
  writeFileSync(entryPath(path, 2), text.replace('"network":"sandbox"', '"network":"testnet"'));
  await expect(look(path, () => undefined)).rejects.toMatchObject({ code: 'bad-ledger' });
});
