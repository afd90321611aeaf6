import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { sha256Of } from '../../src/core/sha256.ts';
import { digestOf, type ProvenLedger } from '../../src/warehouse/ledger/proven-ledger.ts';
import type { LedgerEntry } from '../../src/warehouse/store.ts';
import {
  clockAt,
  commitItems,
  copyOf,
  draftOf,
  entryPath,
  freshPath,
  look,
  openTestStore,
  spoil,
} from './warehouses.ts';

const checkpointPath = (path: string): string => join(path, '_checkpoints', '00000100.jsonl');
const entryOf = (path: string, number: number): LedgerEntry =>
  JSON.parse(readFileSync(entryPath(path, number), 'utf8'));

/** 103 entries with a checkpoint of the first 100: 3 superseded 1 and 2, and 60 superseded 59. All others are in force. */
let made: string;

beforeAll(async () => {
  made = freshPath('parquet');
  const store = await openTestStore(made, { effects: clockAt(Date.parse('2026-11-22T00:00:00Z')) });
  const [one, two] = [await commitItems(store, 0, 9), await commitItems(store, 10, 19)];
  await commitItems(store, 0, 19, { supersedes: [one.id, two.id] });
  let last = two;
  while (last.number < 103) {
    const at = 1000 + 2 * last.number;
    const supersedes = last.number === 59 ? [last.id] : [];
    const draft = draftOf({ from: at - supersedes.length, to: at }, { supersedes });
    last = await store.commit({ id: realEffects.freshId(), tables: {} }, draft);
  }
  await store.close();
}, 120_000);

/** The state of a warehouse when an entry was the last one. */
function provenAt(number: number, path = made): ProvenLedger {
  const entries = Array.from({ length: number }, (_, at) => entryOf(path, at + 1));
  const gone = new Set(entries.flatMap(({ supersedes }) => supersedes));
  return { entry: number, digest: digestOf(entries.filter(({ id }) => !gone.has(id))) };
}

/** Changes the entries of the checkpoint, which has the right checksum then. */
function forge(path: string, change: (entries: LedgerEntry[]) => readonly LedgerEntry[]): void {
  const [, header, ...lines] = readFileSync(checkpointPath(path), 'utf8').trimEnd().split('\n');
  const entries = change(lines.map((line) => JSON.parse(line)));
  const text = [header, ...entries.map((entry) => JSON.stringify(entry)), ''].join('\n');
  writeFileSync(checkpointPath(path), `${sha256Of(text)}\n${text}`);
}

async function inspect(path: string, proven?: ProvenLedger) {
  const { entries, faults } = await look(path, (damaged) => damaged, proven);
  return { numbers: entries.map(({ number }) => number), faults: faults.map(({ kind, entry }) => `${kind} ${entry}`) };
}

describe.each([20, 59, 80, 102])('a ledger that was proven up to entry %i', (number) => {
  test('is read from the checkpoint, and what came later from its files', async () => {
    const path = copyOf(made);
    const expected = await inspect(path);
    expect(expected).toMatchObject({ faults: [] });
    for (let at = 1; at <= Math.min(number, 100); at++) spoil(path, at);
    expect(await inspect(path, provenAt(number))).toEqual(expected);
    // Who reads all finds it.
    expect((await inspect(path)).faults).toContain('entry-broken 10');
    expect((await inspect(path, { ...provenAt(number), digest: '' })).faults).toContain('entry-broken 10');
    expect((await inspect(path, { ...provenAt(number), entry: number - 1 })).faults).toContain('entry-broken 10');
  });

  test('is read from all its files if one is missing, or one that came later or a schema cannot be read', async () => {
    const path = copyOf(made);
    rmSync(entryPath(path, 10));
    expect((await inspect(path, provenAt(number))).faults).toContain('entry-lost 10');
    const other = copyOf(made);
    spoil(other, number + 1);
    expect((await inspect(other, provenAt(number))).faults).toContain(`entry-broken ${number + 1}`);
    const third = copyOf(made);
    for (const name of readdirSync(join(third, '_ledger')))
      if (/^schema/.test(name)) rmSync(join(third, '_ledger', name));
    expect((await inspect(third, provenAt(number))).faults).toContain('schema-broken undefined');
  });

  test.each<readonly [string, (entries: LedgerEntry[]) => readonly LedgerEntry[]]>([
    ['lost an entry', (all) => all.filter((each) => each.number !== 10)],
    ['lost its last entry', (all) => all.slice(0, -1)],
    ['changed an entry', (all) => all.map((each) => (each.number === 10 ? { ...each, requests: 7 } : each))],
    ['changed one of the last', (all) => all.map((each) => (each.number === 99 ? { ...each, requests: 7 } : each))],
    ['has an entry twice', (all) => [...all, ...all.slice(20, 21)]],
    ['brought one back', (all) => all.map((each) => (each.number === 60 ? { ...each, supersedes: [] } : each))],
    [
      'hides one that came later',
      (all) => {
        const [{ id: newest = '' } = {}, first] = [all.at(-1), all[0]];
        return first === undefined ? all : [{ ...first, id: 'x', supersedes: ['x', newest] }, ...all];
      },
    ],
  ])('is not read from a checkpoint that %s', async (_, change) => {
    const path = copyOf(made);
    forge(path, change);
    const { numbers, faults } = await inspect(path, provenAt(number));
    expect(faults).toEqual(['checkpoint-wrong 100']);
    expect(numbers).toEqual((await inspect(made)).numbers);
  });
});

test('a ledger that was proven when some rows of an entry had been removed is read from the checkpoint', async () => {
  const path = copyOf(made);
  const store = await openTestStore(path);
  const id = realEffects.freshId();
  const supersedes = [id, entryOf(path, 3).id];
  const forgotten = draftOf({ from: 10, to: 19 }, { scope: 'forgotten', forgotten: { by: 'command' }, supersedes });
  await store.commitTogether([
    { staged: { id: realEffects.freshId(), tables: {} }, draft: draftOf({ from: 0, to: 9 }) },
    { staged: { id, tables: {} }, draft: forgotten },
  ]);
  await store.close();
  const [expected, proven] = [await inspect(path), provenAt(105, path)];
  for (let at = 1; at <= 100; at++) spoil(path, at);
  expect(await inspect(path, proven)).toEqual(expected);
});
