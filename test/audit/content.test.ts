import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contentHash, hashedColumns } from '../../src/audit/content-hash.ts';
import { text } from '../../src/declare/column.ts';
import { table } from '../../src/declare/table.ts';
import { Database } from '../../src/sql/database.ts';
import { anyValue, makeBatch, type Value } from '../warehouse/batches.ts';
import { everything, itemRows, items, parts } from '../warehouse/tables.ts';
import { commitItems, commitRows, draftOf, freshPath, openTestStore, type StoreKind } from '../warehouse/warehouses.ts';

async function hashOf(kind: StoreKind, rows: readonly (readonly Value[])[]) {
  const store = await openTestStore(freshPath(kind), { tables: [everything] });
  const stage = store.stage({ from: 1, to: 1 });
  await stage.write(makeBatch(everything, rows));
  await store.commit(await stage.finish(), draftOf({ from: 1, to: 1 }));
  return contentHash(store.query, everything);
}

test('the same rows have the same hash in both stores, whatever their order and their spans', async () => {
  const rows = fc.sample(fc.tuple(...everything.columns.map(anyValue)), { numRuns: 500, seed: 5 });
  // One date, and times of that date: a span of the test holds few files then.
  const day: Readonly<Record<string, bigint>> = { block_date: 20_000n, block_time: 20_000n * 86_400_000_000n };
  const dated = rows.map((row) => row.map((cell, at) => day[everything.columns[at]?.name ?? ''] ?? cell));
  const hash = await hashOf('parquet', dated);
  expect(hash.rows).toBe(500);
  expect(await hashOf('duckdb', dated.toReversed())).toEqual(hash);
  const hashes = [];
  for (const [kind, cuts] of [
    ['parquet', [1, 400, 1000]],
    ['duckdb', [1, 17, 18, 1000]],
  ] as const) {
    const store = await openTestStore(freshPath(kind));
    for (let at = 0; at + 1 < cuts.length; at++) await commitItems(store, cuts[at] ?? 0, (cuts[at + 1] ?? 0) - 1);
    hashes.push([await contentHash(store.query, items), await contentHash(store.query, parts)]);
  }
  expect(hashes[0]).toEqual(hashes[1]);
});

const pair = table('pair', {
  grain: 'one row of a test',
  rows: { kind: 'records', path: '/pairs' },
  key: ['a'],
  sort: ['a'],
  columns: {
    a: text('/a', 'text').nullable(),
    b: text('/b', 'text').nullable(),
    c: text('/c', 'text').nullable().decoration(),
  },
});

async function hashOfPairs(values: string) {
  const database = await Database.open();
  await database.run('CREATE TABLE pair (a VARCHAR, b VARCHAR, c VARCHAR, _extra VARCHAR)');
  await database.run(`INSERT INTO pair VALUES ${values}`);
  const hash = await contentHash(database.query, pair);
  database.close();
  return hash;
}

test('null, the empty text and moved column borders are all different', async () => {
  const rows = [
    "(NULL, 'x', '', '')",
    "('', 'x', '', '')",
    "('x', NULL, '', '')",
    "('x', '', '', '')",
    "('', NULL, '', '')",
  ];
  rows.push("('a', 'bc', '', '')", "('ab', 'c', '', '')", "('a|1:b', 'c', '', '')", "('a', 'b|1:c', '', '')");
  const hashes = await Promise.all(rows.map(hashOfPairs));
  expect(new Set(hashes.map(({ hash }) => hash)).size).toBe(rows.length);
});

test('decorations and columns of lineage are left out', async () => {
  expect(hashedColumns(pair).map(({ name }) => name)).toEqual(['a', 'b']);
  expect(await hashOfPairs("('a', 'b', 'now', '{}')")).toEqual(await hashOfPairs("('a', 'b', 'later', NULL)"));
});

test('a row that is there twice counts twice', async () => {
  expect(await hashOfPairs("('a', 'b', '', ''), ('a', 'b', '', '')")).not.toEqual(
    await hashOfPairs("('a', 'b', '', '')"),
  );
});

test('the hash is the sum of md5 read as little-endian numbers, so that any program can check it', async () => {
  const md5 = (row: string) => BigInt(`0x${createHash('md5').update(row).digest().reverse().toString('hex')}`);
  const sum = BigInt.asUintN(128, md5('1:a|2:é|') + md5('|0:|'));
  expect(await hashOfPairs("('a', 'é', '', ''), (NULL, '', '', '')")).toEqual({
    rows: 2,
    hash: sum.toString(16).padStart(32, '0'),
  });
});

test('no rows have the hash zero', async () => {
  const store = await openTestStore(freshPath('parquet'));
  expect(await contentHash(store.query, items)).toEqual({ rows: 0, hash: '0'.repeat(32) });
});

test('a part of the rows can be hashed by itself', async () => {
  const store = await openTestStore(freshPath('duckdb'));
  await commitItems(store, 1, 100);
  const part = await contentHash(store.query, items, 'lt BETWEEN 1000 AND 10000');
  const other = await openTestStore(freshPath('parquet'));
  await commitRows(other, items, itemRows(1, 10), { from: 1, to: 10 });
  expect(await contentHash(other.query, items)).toEqual(part);
});
