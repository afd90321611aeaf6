import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { doneSpans, quarantinedSpans, spansOf } from '../../src/warehouse/ledger/done-spans.ts';
import { parseEntry } from '../../src/warehouse/ledger/entries.ts';
import { ownRelations } from '../../src/warehouse/query/state-relations.ts';
import { compact, hashes } from './compacting.ts';
import {
  addItems,
  countItems,
  draftOf,
  freshPath,
  makeItems,
  openTestReader,
  openTestStore,
  readLedger,
} from './warehouses.ts';

const APART = [0, 20, 40, 60].map((from) => ({ from, to: from + 9 }));

async function makeApart(perDay = 1_000_000): Promise<string> {
  return makeItems('parquet', ...APART.map(({ from, to }) => [from, to, { perDay }] as const));
}

test('spans apart become one entry and one file a table, and what lies between is not done', async () => {
  const path = await makeApart();
  const before = await hashes(path);
  const report = await compact(path);
  expect(report).toMatchObject({ merged: 1, entries: { before: 4, after: 1 }, files: { before: 8, after: 2 } });
  expect(await hashes(path)).toEqual(before);
  const ledger = await readLedger(path);
  expect(ledger).toMatchObject([{ span: { from: 0, to: 69 }, spans: APART, requests: 4 }]);
  expect(doneSpans(ledger, 'items')).toEqual(APART);
  expect(await compact(path)).toMatchObject({ merged: 0, complete: true });
});

test('_commits has a row for each span, and counts rows and requests once', async () => {
  const path = await makeApart();
  await compact(path);
  const reader = await openTestReader(path);
  const { rows } = await reader.query(
    `SELECT list({'from': span_from, 'to': span_to} ORDER BY span_from)::VARCHAR, sum(requests)::INTEGER,
      sum((rows->>'items')::INTEGER)::INTEGER, count(DISTINCT number)::INTEGER,
      count(*) FILTER (15 BETWEEN span_from AND span_to)::INTEGER FROM _commits`,
  );
  const keys = ownRelations.find(({ name }) => name === '_commits')?.key;
  const twice = await reader.query(`SELECT ${keys} FROM _commits GROUP BY ${keys} HAVING count(*) > 1`);
  await reader.close();
  const spans = APART.map(({ from, to }) => `{'from': ${from}, 'to': ${to}}`).join(', ');
  expect([rows, twice.rows]).toEqual([[[`[${spans}]`, 4, 40, 1, 0]], []]);
});

test('what is quarantined between stays quarantined, and gives way to the rows that come later', async () => {
  const path = await makeApart();
  const store = await openTestStore(path);
  const stage = store.stage({ from: 15, to: 15 });
  await store.commit(await stage.finish(), draftOf({ from: 15, to: 15 }, { verdict: 'quarantined' }));
  await store.close();
  await compact(path);
  const ledger = await readLedger(path);
  expect(doneSpans(ledger, 'items')).toEqual(APART);
  expect(quarantinedSpans(ledger, 'items')).toEqual([{ from: 15, to: 15 }]);
});

test('a hole that is filled later makes one span again', async () => {
  const path = await makeApart();
  await compact(path);
  await addItems(path, [10, 19], [30, 39], [50, 59]);
  expect(await compact(path)).toMatchObject({ merged: 1, entries: { after: 1 } });
  const [entry] = await readLedger(path);
  expect(entry).toMatchObject({ span: { from: 0, to: 69 } });
  expect(entry?.spans).toBeUndefined();
  expect(await hashes(path)).toMatchObject([{ rows: 70 }, { rows: 140 }, { rows: 70, distinct: 70, parts: 140 }]);
});

test('spans apart of different days stay apart, as their files do', async () => {
  const path = await makeApart(20);
  expect(await compact(path)).toMatchObject({ merged: 0, entries: { after: 4 } });
});

test('readers see every row once while it runs, through the library and through the catalog', async () => {
  const path = await makeApart();
  const { Database } = await import('../../src/sql/database.ts');
  const seen = new Set<string>();
  const onStep = async (step: string): Promise<void> => {
    const reader = await openTestReader(path);
    seen.add(JSON.stringify(await countItems(reader)));
    await reader.close();
    if (step === 'write catalog') return;
    const catalog = await Database.open(join(path, 'warehouse.duckdb'), { access_mode: 'READ_ONLY' });
    seen.add(JSON.stringify(await countItems(catalog)));
    catalog.close();
  };
  await compact(path, { onStep });
  expect([...seen]).toEqual([JSON.stringify({ rows: 40, distinct: 40, parts: 80 })]);
});

test('an entry that could be read in two ways is refused, and one of a newer format by its name', async () => {
  const path = await makeApart();
  await compact(path);
  const [name = ''] = (await readdir(join(path, '_ledger'))).filter((each) => /^\d+\.json$/.test(each)).slice(-1);
  const entry = JSON.parse(await readFile(join(path, '_ledger', name), 'utf8'));
  const read = (change: object) => parseEntry(JSON.stringify({ ...entry, ...change }), name, entry.number);
  expect(spansOf(read({}))).toEqual(APART);
  const overlapping = [APART[0], { from: 9, to: 69 }];
  const touching = [APART[0], { from: 10, to: 69 }];
  for (const change of [
    ...[{ span: { from: 0, to: 70 } }, { spans: APART.toReversed() }],
    ...[{ spans: overlapping }, { spans: touching }, { spans: APART.slice(1) }],
  ]) {
    expect(() => read(change)).toThrow('is not a ledger entry');
  }
  expect(() => read({ format: 3 })).toThrow(expect.objectContaining({ code: 'newer-tonlake' }));
});

test('a DuckDB file takes no entry of several spans', async () => {
  const store = await openTestStore(freshPath('duckdb'));
  const commit = store.commit(
    await store.stage({ from: 0, to: 69 }).finish(),
    draftOf({ from: 0, to: 69 }, { spans: APART }),
  );
  await expect(commit).rejects.toThrow('expected one span');
});
