import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type MergeGroup, planMerges } from '../../src/warehouse/compaction/plan-merges.ts';
import type { LedgerEntry } from '../../src/warehouse/store.ts';
import { tables } from './compacting.ts';
import { entryOf, itemsIn } from './warehouses.ts';

const MB = 1e6;
const TARGET = 128 * MB;

/** An entry of ten blocks, with a file of one day. */
function entry(at: number, bytes: number, day = '2026-05-01'): LedgerEntry {
  return entryAt(at * 10, at * 10 + 9, [{ path: `tables/items/block_date=${day}/${at}`, bytes }]);
}

function entryAt(from: number, to: number, files: Parameters<typeof itemsIn>[0]): LedgerEntry {
  return entryOf(from + 1, { id: `${from}:${to}`, span: { from, to }, tables: itemsIn(files) });
}

function plan(ledger: readonly LedgerEntry[]): readonly MergeGroup[] {
  return planMerges(ledger, { tables, pipelines: [], targetBytes: TARGET });
}

function bytesOf({ tables: { items: own } }: LedgerEntry): number {
  return own?.files.reduce((sum, { bytes }) => sum + bytes, 0) ?? 0;
}

/** The ledger after all planned merges. */
function merge(ledger: readonly LedgerEntry[], groups: readonly MergeGroup[]): LedgerEntry[] {
  const merged = groups.map(({ entries, spans }) => {
    const [from, to] = [spans[0]?.from ?? 0, spans.at(-1)?.to ?? 0];
    const sizes = new Map<string, number>();
    for (const { path, bytes } of entries.flatMap((each) => each.tables['items']?.files ?? [])) {
      const folder = path.slice(0, path.lastIndexOf('/'));
      sizes.set(folder, (sizes.get(folder) ?? 0) + bytes);
    }
    return entryAt(
      from,
      to,
      [...sizes].map(([folder, bytes]) => ({ path: `${folder}/${from}-${to}`, bytes })),
    );
  });
  const gone = new Set(groups.flatMap(({ entries }) => entries.map(({ id }) => id)));
  return [...ledger.filter(({ id }) => !gone.has(id)), ...merged];
}

const sizesOf = (ledger: readonly LedgerEntry[]) =>
  plan(ledger).map(({ entries }) => entries.map((own) => bytesOf(own) / MB));

test('entries are merged when they reach the next tier together', () => {
  expect(sizesOf([2, 2, 2].map((size, at) => entry(at, size * MB)))).toEqual([]);
  expect(sizesOf([2, 2, 2, 2].map((size, at) => entry(at, size * MB)))).toEqual([[2, 2, 2, 2]]);
  expect(sizesOf([0.1, 0.1].map((size, at) => entry(at, size * MB)))).toEqual([[0.1, 0.1]]);
});

test('a large entry is not written again for small ones that follow', () => {
  expect(sizesOf([40, 2, 2].map((size, at) => entry(at, size * MB)))).toEqual([]);
  expect(sizesOf([40, 2, 2, 2, 2].map((size, at) => entry(at, size * MB)))).toEqual([[2, 2, 2, 2]]);
  expect(sizesOf([40, 8, 8, 8].map((size, at) => entry(at, size * MB)))).toEqual([[40, 8, 8, 8]]);
});

test('many entries become files of the target size at once, whatever tier they are in', () => {
  const ledger = Array.from({ length: 100 }, (_, at) => entry(at, 3 * MB));
  expect(plan(ledger).map(({ entries }) => entries.length)).toEqual([42, 42, 16]);
});

test('entries of half the target stay, and do not keep others apart', () => {
  expect(sizesOf([2, 70, 2, 70, 2, 70, 2].map((size, at) => entry(at, size * MB)))).toEqual([[2, 2, 2, 2]]);
});

test('files of different days cannot become fewer, so large ones are not written again', () => {
  const days = Array.from({ length: 20 }, (_, at) => entry(at, 3 * MB, `2026-05-${String(at + 1).padStart(2, '0')}`));
  expect(plan(days)).toEqual([]);
});

test('on the lowest tier, days stay apart from an entry with more blocks than all of them', () => {
  const ends = (ledger: readonly LedgerEntry[]) => plan(ledger).map(({ entries }) => entries.map(({ id }) => id));
  const day = (from: number, to: number, ...days: number[]) =>
    entryAt(from, to, [
      ...days.map((each) => ({ path: `tables/items/block_date=2026-05-1${each}/${from}`, bytes: 4000 })),
    ]);
  expect(ends([day(0, 9, 1), day(10, 19, 2)])).toEqual([['0:9', '10:19']]);
  expect(ends([day(0, 19, 1, 2), day(20, 29, 3)])).toEqual([]);
  expect(ends([day(0, 29, 1, 2, 3), day(30, 39, 4), day(40, 49, 5)])).toEqual([['30:39', '40:49']]);
  expect(ends([day(0, 19, 1, 2), day(20, 29, 3), day(30, 39, 4)])).toEqual([['0:19', '20:29', '30:39']]);
  // Of the same days they become fewer files.
  expect(ends([day(0, 19, 1, 2), day(20, 29, 1, 2)])).toEqual([['0:19', '20:29']]);
  expect(ends([day(0, 19, 1), day(20, 20, 1)])).toEqual([['0:19', '20:20']]);
});

test('a night is not merged with all nights before it, so that a ledger names each file a few times', () => {
  let ledger: LedgerEntry[] = [];
  let named = 0;
  const most: number[] = [];
  for (let night = 0; night < 200; night++) {
    // Its blocks are of two days, the first of which has blocks of the night before.
    const files = [night, night + 1].map((day) => ({
      path: `tables/items/block_date=day-${day + 1000}/${night}`,
      bytes: 4000,
    }));
    const before = [...ledger, entryAt(night * 12, night * 12 + 11, files)];
    ledger = merge(before, plan(before));
    expect(plan(ledger)).toEqual([]);
    const written = ledger.filter((each) => !before.includes(each));
    const names = written.reduce((sum, { tables: own }) => sum + (own['items']?.files.length ?? 0), 0);
    named += names;
    most.push(names);
  }
  expect(named).toBeLessThan(200 * 10);
  expect(most.sort((a, b) => a - b).at(-20)).toBeLessThan(200 / 4);
  expect(ledger.length).toBeLessThan(15);
});

test('however a warehouse grows, each byte is written once per tier, and few entries remain', () => {
  const sizes = fc.array(fc.integer({ min: 100_000, max: 9 * MB }), { minLength: 100, maxLength: 400 });
  const property = fc.property(sizes, fc.integer({ min: 1, max: 40 }), (all, every) => {
    let ledger: LedgerEntry[] = [];
    let written = 0;
    for (const [at, bytes] of all.entries()) {
      ledger.push(entry(at, bytes));
      if (at % every !== 0 && at < all.length - 1) continue;
      const groups = plan(ledger);
      written += groups.flatMap(({ entries }) => entries).reduce((sum, own) => sum + bytesOf(own), 0);
      ledger = merge(ledger, groups);
      expect(plan(ledger)).toEqual([]);
    }
    const total = all.reduce((sum, bytes) => sum + bytes, 0);
    expect(ledger.reduce((sum, own) => sum + bytesOf(own), 0)).toBe(total);
    expect(written).toBeLessThanOrEqual(3 * total + all.length * (TARGET / 200));
    expect(ledger.length).toBeLessThanOrEqual((2 * total) / TARGET + 3 * 10);
    for (const own of ledger) expect(bytesOf(own)).toBeLessThanOrEqual(TARGET);
  });
  fc.assert(property, { numRuns: 30 });
});
