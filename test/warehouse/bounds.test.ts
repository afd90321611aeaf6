import { expect, test } from 'vitest';
import { fromRequest, int32, lt, text, unixSeconds } from '../../src/declare/column.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { table } from '../../src/declare/table.ts';
import { Database } from '../../src/sql/database.ts';
import { dateIn } from '../../src/warehouse/file-layout.ts';
import { boundedColumns, measureRows } from '../../src/warehouse/staging/row-evidence.ts';
import type { LedgerEntry } from '../../src/warehouse/store.ts';
import { compact } from './compacting.ts';
import { commitItems, freshPath, openTestReader, openTestStore, withStore } from './warehouses.ts';

const readings = table('readings', {
  grain: 'one reading of a test',
  rows: { kind: 'records', path: '/rows' },
  key: ['id', '_read_at'],
  time: 'now',
  columns: {
    id: text('/id', 'text'),
    n: int32('/n', 'integer').nullable(),
    at: lt('/at', 'logical time').nullable(),
    now: unixSeconds('/now', 'time'),
    mc_block_seqno: int32('/seqno', 'masterchain block'),
    _read_at: fromRequest('timestamp', 'read_at', 'UTC time'),
  },
});

test('bounds are those of the rows of each day: exact at both ends of 64 bits, with nulls counted', async () => {
  expect(boundedColumns(readings)).toEqual(['at', 'now', 'mc_block_seqno', '_read_at']);
  const database = await Database.open();
  const rows = `(SELECT 'a' AS id, NULL::INTEGER AS n, col0::BIGINT AS at, col1::BIGINT AS now, 7 AS mc_block_seqno,
      TIMESTAMP '2026-05-01 00:00:00.000001' AS _read_at, to_timestamp(col1)::DATE AS block_date
    FROM (VALUES (-9223372036854775808, 1777593600), (9223372036854775807, 1777593601), (NULL, 1777593602), (NULL, 1777680000)))`;
  const measured = await measureRows(database.query, readings, rows, ['n', ...boundedColumns(readings)]);
  database.close();
  const readAt = ['1777593600000001', '1777593600000001', 0];
  expect(measured.map(({ date, bounds }) => [date, bounds])).toEqual([
    [
      '2026-05-01',
      {
        n: [null, null, 3],
        at: ['-9223372036854775808', '9223372036854775807', 1],
        now: ['1777593600', '1777593602', 0],
        mc_block_seqno: ['7', '7', 0],
        _read_at: readAt,
      },
    ],
    [
      '2026-05-02',
      {
        n: [null, null, 1],
        at: [null, null, 1],
        now: ['1777680000', '1777680000', 0],
        mc_block_seqno: ['7', '7', 0],
        _read_at: readAt,
      },
    ],
  ]);
});

test('an entry holds the bounds of each of its files', async () => {
  const { tables } = await withStore(freshPath('parquet'), (store) => commitItems(store, 10, 29, { perDay: 15 }));
  expect(tables['items']?.files.map(({ rows, bounds }) => [rows, bounds])).toEqual([
    [5, { lt: ['10000', '14000', 0], now: ['1777593610', '1777593614', 0] }],
    [15, { lt: ['15000', '29000', 0], now: ['1777680015', '1777680029', 0] }],
  ]);
  expect(tables['parts']?.files.map(({ bounds }) => bounds)).toEqual([{ n: ['0', '1', 0] }]);
});

test('a merged file has the bounds of its rows, as those that it was made of', async () => {
  const path = freshPath('parquet');
  const store = await openTestStore(path);
  for (const from of [10, 20, 30]) await commitItems(store, from, from + 9, { perDay: 15 });
  const boundsOf = (entries: readonly LedgerEntry[]) =>
    Object.fromEntries(
      ['items', 'parts'].map((name) => {
        const files = entries.flatMap((entry) => entry.tables[name]?.files ?? []);
        return [name, files.map(({ path: file, rows, bounds }) => [dateIn(file), rows, bounds])];
      }),
    );
  await store.close();
  expect(await compact(path)).toMatchObject({ merged: 1 });
  const reader = await openTestReader(path);
  expect(boundsOf(await reader.ledger())).toEqual({
    items: [
      ['2026-05-01', 5, { lt: ['10000', '14000', 0], now: ['1777593610', '1777593614', 0] }],
      ['2026-05-02', 15, { lt: ['15000', '29000', 0], now: ['1777680015', '1777680029', 0] }],
      ['2026-05-03', 10, { lt: ['30000', '39000', 0], now: [expect.any(String), expect.any(String), 0] }],
    ],
    parts: [[undefined, 60, { n: ['0', '1', 0] }]],
  });
});

test('every shipped table of blocks has bounds of its order and its time, in at most ten columns', async () => {
  const registry = await loadRegistry();
  for (const { name, time, ...each } of registry.tables) {
    const columns = boundedColumns({ name, time, ...each });
    expect(columns.length, name).toBeLessThanOrEqual(10);
    if (time === undefined) continue;
    expect(columns, name).toContain(time);
    expect(columns.length, name).toBeGreaterThan(1);
  }
});
