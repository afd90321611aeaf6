import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { planMerges } from '../../src/warehouse/compaction/plan-merges.ts';
import { dateIn } from '../../src/warehouse/file-layout.ts';
import { doneSpans, spansOf } from '../../src/warehouse/ledger/done-spans.ts';
import { compact, compactKilled, hashes, tables } from './compacting.ts';
import {
  commitItems,
  draftOf,
  entryOf,
  filesOf,
  itemsIn,
  makeItems,
  openTestReader,
  openTestStore,
  readLedger,
  stageItems,
  tens,
} from './warehouses.ts';

/** Spans of ten items; two days each hold half of all. */
async function makeWarehouse(spans: number, kind: 'parquet' | 'duckdb' = 'parquet'): Promise<string> {
  return makeItems(kind, ...tens(spans, { perDay: spans * 5 }));
}

/** Files of items where programs without tonlake find them. */
async function shownIn(path: string): Promise<readonly string[]> {
  const all = await readdir(join(path, 'tables/items'), { recursive: true });
  return all.filter((name) => name.endsWith('.parquet'));
}

describe('compact', () => {
  test('makes one entry of neighbouring spans, with the same rows, evidence and requests', async () => {
    const path = await makeWarehouse(12);
    const before = await hashes(path);
    const report = await compact(path);
    expect(report).toMatchObject({ merged: 1, entries: { before: 12, after: 1 }, files: { before: 24, after: 3 } });
    expect(await hashes(path)).toEqual(before);
    const reader = await openTestReader(path);
    const [entry] = await reader.ledger();
    expect(entry).toMatchObject({
      number: 13,
      span: { from: 0, to: 119 },
      verdict: 'accepted',
      requests: 12,
      tables: { items: { rows: 120, sums: { lt: '7140000' } }, parts: { rows: 240 } },
    });
    expect(entry?.supersedes).toHaveLength(12);
    const files = await reader.files('items');
    expect(files).toHaveLength(2);
    for (const file of files) {
      const { rows } = await reader.query(
        `SELECT bool_and(lt > before) FROM (SELECT lt, lag(lt) OVER (ORDER BY file_row_number) AS before
          FROM read_parquet('${file}', file_row_number = true))`,
      );
      expect(rows).toEqual([[true]]);
    }
  });

  test('has nothing to do the second time', async () => {
    const path = await makeWarehouse(3);
    await compact(path);
    expect(await compact(path)).toMatchObject({ merged: 0, complete: true, files: { before: 3, after: 3 } });
  });

  test('leaves a file that is alone in its folder where it is, also once the entries that named it are gone', async () => {
    // Days of fifteen rows: the first and the last day are of one entry, the one between is of both.
    const path = await makeItems('parquet', [0, 19, { perDay: 15 }], [20, 39, { perDay: 15 }]);
    const before = await hashes(path);
    const byDay = async () => {
      return [...filesOf(await readLedger(path), 'items')].sort((a, b) =>
        (dateIn(a.path) ?? '').localeCompare(dateIn(b.path) ?? ''),
      );
    };
    const [first, , , last] = await byDay();
    expect(await compact(path)).toMatchObject({ merged: 1, entries: { after: 1 } });
    // A repair sets a damaged entry aside, and takes what is sound of it.
    const aside = new Set((await readLedger(path)).map(({ id }) => id));
    await (await openTestStore(path, { setAside: aside })).close();
    expect(await shownIn(path)).toHaveLength(3);
    for (const graceMs of [1000, 0]) {
      await (await openTestStore(path, { graceMs })).close();
      const [one, merged, other] = await byDay();
      expect([one?.path, other?.path]).toEqual([first?.path, last?.path]);
      expect(merged?.rows).toBe(15);
      expect(await shownIn(path)).toHaveLength(3);
      expect(await hashes(path)).toEqual(before);
    }
  });

  test('stays below the target, and leaves alone what has half of it', async () => {
    const path = await makeWarehouse(9);
    const largest = Math.max(...filesOf(await readLedger(path)).map(({ bytes }) => bytes));
    expect(await compact(path, { targetBytes: largest * 3.5 })).toMatchObject({ entries: { before: 9, after: 3 } });
    expect(await compact(path, { targetBytes: largest * 1.5 })).toMatchObject({ merged: 0 });
  });

  test('touches only spans inside the range', async () => {
    const path = await makeItems('parquet', [0, 9], [10, 19], [20, 29], [40, 49], [50, 59], [60, 69]);
    const limit = async () => [{ from: 5, to: 69 }];
    expect(await compact(path, { limit })).toMatchObject({ merged: 1, entries: { before: 6, after: 2 } });
    expect((await readLedger(path)).map(spansOf)).toEqual([
      [{ from: 0, to: 9 }],
      [
        { from: 10, to: 29 },
        { from: 40, to: 69 },
      ],
    ]);
  });

  test('refuses to merge a file that is not what was committed, and changes nothing', async () => {
    const path = await makeWarehouse(3);
    const reader = await openTestReader(path);
    const [file = ''] = await reader.files('items');
    await reader.close();
    const bytes = await readFile(file);
    bytes[40] = (bytes[40] ?? 0) ^ 1;
    await writeFile(file, bytes);
    await expect(compact(path)).rejects.toMatchObject({ code: 'damaged', hint: expect.stringContaining('verify') });
    expect(await readLedger(path)).toHaveLength(3);
  });

  test('stops after the merge in hand, and goes on from there', async () => {
    const path = await makeItems(
      'parquet',
      ...[0, 10, 40, 50].map((from) => [from, from + 9, { version: from < 40 ? 1 : 2 }] as const),
    );
    const stop = new AbortController();
    const first = await compact(path, { stop: stop.signal, onEvent: () => stop.abort() });
    expect(first).toMatchObject({ merged: 1, complete: false, entries: { before: 4, after: 3 } });
    expect(await compact(path)).toMatchObject({ merged: 1, complete: true, entries: { before: 3, after: 2 } });
  });

  test.each([
    ['neighbours', [0, 10, 20, 30], 20],
    ['spans apart', [0, 20, 40, 60], 1_000_000],
  ])(
    'of %s, killed at any step of a commit, leaves the same rows and holes, and a rerun completes it',
    async (_, starts, perDay) => {
      const path = await makeItems('parquet', ...starts.map((from) => [from, from + 9, { perDay }] as const));
      const look = async (at: string) => [await hashes(at), doneSpans(await readLedger(at), 'items')];
      const before = await look(path);
      const moments = await compactKilled(path);
      expect(moments.length).toBeGreaterThan(5);
      for (const copy of moments) {
        expect(await look(copy)).toEqual(before);
        expect(await compact(copy)).toMatchObject({ entries: { after: 1 } });
        expect(await look(copy)).toEqual(before);
      }
    },
  );

  test('a DuckDB warehouse has nothing to merge', async () => {
    const path = await makeWarehouse(2, 'duckdb');
    expect(await compact(path)).toMatchObject({ kind: 'duckdb', merged: 0, complete: true });
  });

  test('never joins quarantined, partial or changing entries, nor those of another version', async () => {
    const path = await makeWarehouse(1);
    const store = await openTestStore(path);
    const extra = [{ version: 2 }, { asOf: { from: 1, to: 2 } }, { scope: 'account=x' }];
    for (const [at, more] of extra.entries()) await commitItems(store, 10 + at * 10, 19 + at * 10, more);
    await store.commit(await stageItems(store, { from: 40, to: 49 }), draftOf({ from: 40, to: 49 }, { version: 3 }));
    expect(planMerges(store.ledger(), { tables, pipelines: [], targetBytes: 1e9 })).toEqual([]);
  });
});

test('entries of an older declaration are not merged', () => {
  const entry = (number: number, schema?: string) =>
    entryOf(number, { tables: itemsIn([{ path: 'tables/items/a', bytes: 9 }], schema) });
  const options = { tables, pipelines: [], targetBytes: 10_000 };
  expect(planMerges([entry(1), entry(2)], options)).toHaveLength(1);
  expect(planMerges([entry(1), entry(2, 'old')], options)).toEqual([]);
});
