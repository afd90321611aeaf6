import { createHash } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { planRepair } from '../../src/verify/plan-repair.ts';
import { LedgerFolder } from '../../src/warehouse/ledger/ledger-folder.ts';
import type { Store } from '../../src/warehouse/store.ts';
import { items } from './tables.ts';
import {
  addItems,
  clockAt,
  commitItems,
  copyOf,
  countCatalog,
  countItems,
  draftOf,
  editFile,
  entryPath,
  FOREIGN_CHANGES,
  freshPath,
  look,
  makeItems,
  openTestReader,
  openTestStore,
  spoil,
  stageItems,
} from './warehouses.ts';

const DAY = 86_400_000;
const HOUR = DAY / 24;
const start = Date.parse('2026-11-22T00:00:00Z');

/** Commits entries without rows, which are quick to make. */
async function commitEmpty(store: Store, count: number, from = 1000): Promise<void> {
  for (let at = 0; at < count; at++) {
    const span = { from: from + 2 * at, to: from + 2 * at };
    await store.commit({ id: realEffects.freshId(), tables: {} }, draftOf(span));
  }
}

const checkpointsOf = (path: string): string[] =>
  readdirSync(join(path, '_checkpoints'))
    .filter((name) => name.endsWith('.jsonl'))
    .sort();
const checkpointPath = (path: string, number = 100): string =>
  join(path, '_checkpoints', `${String(number).padStart(8, '0')}.jsonl`);

async function readLedger(path: string) {
  const ledger = new LedgerFolder(path);
  await ledger.refresh();
  const { effective, forgotten, nextNumber } = ledger.entries;
  return { effective, forgotten, nextNumber };
}

/** The ledger as its entries alone tell it. */
async function readEntries(path: string) {
  const copy = copyOf(path);
  rmSync(join(copy, '_checkpoints'), { recursive: true, force: true });
  return readLedger(copy);
}

/** True if a store knows an entry without its file. */
async function isInMemory(store: Store, path: string, number: number): Promise<boolean> {
  const file = entryPath(path, number);
  renameSync(file, `${file}.away`);
  const [entry] = await store.log(number - 1, 1).catch(() => []);
  renameSync(`${file}.away`, file);
  return entry?.number === number;
}

/**
 * 102 entries: 1 and 2 hold rows and are superseded by 3 two days before the rest, 4 holds rows, the others none. The checkpoint
 * covers 100.
 */
async function makeWarehouse(): Promise<string> {
  const path = freshPath('parquet');
  const effects = clockAt(start);
  const store = await openTestStore(path, { effects });
  const [one, two] = [await commitItems(store, 0, 9), await commitItems(store, 10, 19)];
  await commitItems(store, 0, 19, { supersedes: [one.id, two.id] });
  effects.time += 2 * DAY;
  await commitItems(store, 20, 29);
  await commitEmpty(store, 98);
  await store.close();
  return path;
}

const inspect = (path: string) => look(path, (damaged) => damaged);

const made = await makeWarehouse();
const madeElsewhere = await makeWarehouse();

describe('a checkpoint', () => {
  test('is written every hundred entries, and opening reads it and what came after it', async () => {
    const path = copyOf(made);
    expect(checkpointsOf(path)).toEqual(['00000100.jsonl']);
    const expected = await readEntries(path);
    for (let number = 1; number <= 100; number++) spoil(path, number);
    expect(await readLedger(path)).toEqual(expected);
    const store = await openTestStore(path);
    expect((await commitItems(store, 30, 39)).number).toBe(103);
    expect(await countItems(store)).toEqual({ rows: 40, distinct: 40, parts: 80 });
    await store.close();
    spoil(path, 101);
    await expect(readLedger(path)).rejects.toMatchObject({ code: 'bad-ledger' });
  });

  test('leaves out what was superseded more than a day before', async () => {
    const lines = readFileSync(checkpointPath(made), 'utf8').trimEnd().split('\n');
    const numbers = lines.slice(2).map((line) => JSON.parse(line).number);
    expect(numbers).toEqual(Array.from({ length: 98 }, (_, at) => at + 3));
    expect(lines.slice(2)).toEqual(numbers.map((number) => readFileSync(entryPath(made, number), 'utf8').trimEnd()));
  });

  test('has the entries of a day also if the writer kept those of ten minutes, as their files have them', async () => {
    const path = freshPath('parquet');
    const effects = clockAt(start);
    const store = await openTestStore(path, { effects });
    let supersedes: readonly string[] = [];
    for (let at = 0; at < 200; at++) {
      effects.time += HOUR / 6;
      const draft = draftOf({ from: 1000, to: 1000 }, { supersedes });
      supersedes = [(await store.commit({ id: realEffects.freshId(), tables: {} }, draft)).id];
    }
    // The others left the memory: they are asked from their files.
    expect(await isInMemory(store, path, 198)).toBe(false);
    expect(await isInMemory(store, path, 199)).toBe(true);
    await store.close();
    expect(checkpointsOf(path)).toEqual(['00000100.jsonl', '00000200.jsonl']);
    const lines = readFileSync(checkpointPath(path, 200), 'utf8').trimEnd().split('\n').slice(2);
    expect(lines).toEqual(
      Array.from({ length: 145 }, (_, at) => readFileSync(entryPath(path, 56 + at), 'utf8').trimEnd()),
    );
    expect(await readLedger(path)).toEqual(await readEntries(path));
    expect((await inspect(path)).faults).toEqual([]);
  });

  test('keeps what was superseded within the grace period, whose files stay', async () => {
    const path = freshPath('parquet');
    const effects = clockAt(start);
    const store = await openTestStore(path, { effects });
    const old = await commitItems(store, 0, 9);
    await commitItems(store, 0, 9, { supersedes: [old.id] });
    await commitEmpty(store, 98);
    await store.close();
    expect(checkpointsOf(path)).toEqual(['00000100.jsonl']);
    const files = Object.values(old.tables).flatMap((table) => table.files.map((file) => file.path));
    const stay = () => files.map((file) => existsSync(join(path, file.replace('tables/', 'pinned/'))));
    effects.time = start + HOUR / 2;
    await (await openTestStore(path, { effects })).close();
    expect(stay()).toEqual([true, true]);
    effects.time = start + 2 * HOUR;
    await (await openTestStore(path, { effects })).close();
    expect(stay()).toEqual([false, false]);
  });

  test('files of entries that left the memory stay for the grace period, and these entries are still in the log', async () => {
    const path = freshPath('parquet');
    const effects = clockAt(start);
    const store = await openTestStore(path, { effects });
    const old = await commitItems(store, 0, 9);
    await commitItems(store, 0, 9, { supersedes: [old.id] });
    effects.time += HOUR / 2;
    await commitEmpty(store, 98);
    expect(await isInMemory(store, path, 1)).toBe(false);
    expect(await isInMemory(store, path, 2)).toBe(true);
    const counts = [];
    for (const passed of [0, HOUR / 2 - 1, 1]) {
      effects.time += passed;
      counts.push(await store.clearSuperseded());
    }
    expect(counts).toEqual([0, 0, 2]);
    expect((await store.log(0, 1))[0]).toEqual(old);
    await store.close();
    expect((await inspect(path)).faults).toEqual([]);
  });

  test('keeps what tells of removed rows, commits of several entries, and fields of newer versions', async () => {
    const path = freshPath('parquet');
    const effects = clockAt(start);
    const store = await openTestStore(path, { effects });
    const draft = (from: number) => ({
      staged: { id: realEffects.freshId(), tables: {} },
      draft: draftOf({ from, to: from }),
    });
    const [first, second] = await store.commitTogether([draft(1), draft(2)]);
    await commitEmpty(store, 1, 5);
    const gone = realEffects.freshId();
    await store.commit(
      { id: gone, tables: {} },
      draftOf({ from: 2, to: 2 }, { scope: 'forgotten', supersedes: [second?.id ?? '', gone] }),
    );
    await store.close();
    // 1 is in force beside 2, which is left out.
    const third = JSON.parse(readFileSync(entryPath(path, 3), 'utf8'));
    writeFileSync(entryPath(path, 3), `${JSON.stringify({ ...third, later: { added: 1 } })}\n`);
    effects.time += 2 * DAY;
    const again = await openTestStore(path, { effects });
    await commitEmpty(again, 97, 101);
    await again.close();
    const kept = await readLedger(path);
    expect(kept).toEqual(await readEntries(path));
    expect(kept.effective.slice(0, 2)).toEqual([first, { ...third, later: { added: 1 } }]);
    expect(kept.forgotten.map(({ id }) => id)).toEqual([gone]);
    const lines = readFileSync(checkpointPath(path), 'utf8').split('\n');
    expect(lines.filter((line) => line.includes(`"id":"${second?.id}"`))).toEqual([]);
  });

  test('an entry that it holds can be set aside and superseded', async () => {
    const path = copyOf(made);
    const { effective } = await readLedger(path);
    const id = effective.find(({ number }) => number === 4)?.id ?? '';
    const store = await openTestStore(path, { setAside: new Set([id]) });
    expect((await countItems(store)).rows).toBe(20);
    await commitItems(store, 20, 29, { supersedes: [id] });
    expect(await countItems(store)).toEqual({ rows: 30, distinct: 30, parts: 60 });
    await store.close();
    expect(await readLedger(path)).toEqual(await readEntries(path));
  });

  test('the newest two stay, and those of a later state of the ledger go', async () => {
    const path = copyOf(made);
    const store = await openTestStore(path);
    writeFileSync(checkpointPath(path, 900), 'of a ledger that was put back');
    await commitEmpty(store, 98, 5000);
    expect(checkpointsOf(path)).toEqual(['00000100.jsonl', '00000200.jsonl']);
    await commitEmpty(store, 100, 6000);
    await store.close();
    expect(checkpointsOf(path)).toEqual(['00000200.jsonl', '00000300.jsonl']);
    rmSync(checkpointPath(path, 300));
    expect(await readLedger(path)).toEqual(await readEntries(path));
  });
});

/** What may happen to a warehouse behind its checkpoint: readers must see what the entries say, or be told that one is missing. */
const lies: Readonly<Record<string, (path: string) => void>> = {
  'is lost': (path) => rmSync(checkpointPath(path)),
  'is torn': (path) => writeFileSync(checkpointPath(path), readFileSync(checkpointPath(path)).subarray(0, 9000)),
  'is empty': (path) => writeFileSync(checkpointPath(path), ''),
  'has a flipped byte': (path) => {
    const bytes = readFileSync(checkpointPath(path));
    bytes[5000] = (bytes[5000] ?? 0) ^ 1;
    writeFileSync(checkpointPath(path), bytes);
  },
  'is longer than it was': (path) => appendFileSync(checkpointPath(path), '{}\n'),
  'is that of another warehouse': (path) => cpSync(checkpointPath(madeElsewhere), checkpointPath(path)),
  'has the name of another number': (path) => renameSync(checkpointPath(path), checkpointPath(path, 99)),
  'has a number beyond the ledger': (path) => renameSync(checkpointPath(path), checkpointPath(path, 99_999)),
  'is of a newer format': (path) => resign(path, (text) => text.replace('{"format":1,', '{"format":2,')),
  'holds an entry of a newer format': (path) =>
    resign(path, (text) => text.replace('\n{"format":1,"number":50', '\n{"format":9,"number":50')),
  'is older than the entry that took the place of a lost one': (path) => fillEntry(path, 4),
  'is older than the entry that took the place of one which superseded others': (path) => fillEntry(path, 3),
  'is older than an entry of the same size': (path) => {
    const text = readFileSync(entryPath(path, 60), 'utf8');
    const { id } = JSON.parse(text);
    writeFileSync(entryPath(path, 60), text.replace(id, realEffects.freshId()));
  },
  'covers entries that were put back to an older state': (path) => {
    for (const number of [98, 99, 100, 101, 102]) rmSync(entryPath(path, number));
  },
};

/** Puts an entry without rows in the place of a lost one. */
function fillEntry(path: string, number: number): void {
  const lost = JSON.parse(readFileSync(entryPath(path, number), 'utf8'));
  const id = realEffects.freshId();
  // Not in place: another program adds a file.
  rmSync(entryPath(path, number));
  writeFileSync(entryPath(path, number), `${JSON.stringify({ ...lost, id, tables: {}, supersedes: [id] })}\n`);
}

/** Changes a checkpoint, and gives it a checksum that is right. */
function resign(path: string, change: (text: string) => string): void {
  const [, ...lines] = readFileSync(checkpointPath(path), 'utf8').split('\n');
  const before = lines.join('\n');
  const text = change(before);
  expect(text).not.toBe(before);
  writeFileSync(checkpointPath(path), `${createHash('sha256').update(text).digest('hex')}\n${text}`);
}

describe('a checkpoint that', () => {
  test.each(Object.entries(lies))('%s costs only time, and the next writer replaces it', async (_, apply) => {
    const path = copyOf(made);
    apply(path);
    expect(await readLedger(path)).toEqual(await readEntries(path));
    expect((await inspect(path)).faults.filter(({ kind }) => kind === 'checkpoint-wrong')).toEqual([]);
    const store = await openTestStore(path);
    await commitEmpty(store, 5, 9001);
    await store.close();
    const expected = await readEntries(path);
    for (let number = 1; number <= 50; number++) spoil(path, number);
    expect(await readLedger(path)).toEqual(expected);
  });

  test('covers an entry that was deleted does not hide it', async () => {
    const path = copyOf(made);
    rmSync(entryPath(path, 50));
    await expect(readLedger(path)).rejects.toMatchObject({ code: 'bad-ledger' });
    const damaged = await inspect(path);
    expect(damaged.faults).toMatchObject([{ kind: 'entry-lost', entry: 50 }]);
    await damaged.fillLedger({ effects: realEffects, command: 'tonlake verify --repair' });
    const ledger = await readLedger(path);
    expect(ledger).toEqual(await readEntries(path));
    expect(ledger.effective.map(({ number }) => number)).not.toContain(50);
  });

  test('is damaged leaves the one before it in use', async () => {
    const path = copyOf(made);
    const store = await openTestStore(path);
    await commitEmpty(store, 100, 5000);
    await store.close();
    const expected = await readEntries(path);
    writeFileSync(checkpointPath(path, 200), readFileSync(checkpointPath(path, 200)).subarray(0, -10));
    for (let number = 1; number <= 100; number++) spoil(path, number);
    expect(await readLedger(path)).toEqual(expected);
  });

  test('differs from the entries is found by verify, and written anew by a repair', async () => {
    const path = copyOf(made);
    resign(path, (text) => text.replace('"requests":1,', '"requests":7,'));
    expect((await readLedger(path)).effective).not.toEqual((await readEntries(path)).effective);
    const damaged = await inspect(path);
    expect(damaged.faults).toMatchObject([{ kind: 'checkpoint-wrong', entry: 100 }]);
    const found = { findings: damaged.faults, states: [], warehouse: damaged };
    const plan = planRepair(found, await loadRegistry(), [], () => false);
    expect(plan.isLedgerBroken).toBe(true);
    await damaged.fillLedger({ effects: realEffects, command: 'tonlake verify --repair' });
    expect(checkpointsOf(path)).toEqual(['00000102.jsonl']);
    expect(await readLedger(path)).toEqual(await readEntries(path));
    expect((await inspect(path)).faults).toEqual([]);
  });
});

describe('the folder of entries', () => {
  /** A warehouse of 102 entries that its last writer closed here, not in a copy. */
  async function closeHere(): Promise<string> {
    const path = copyOf(made);
    await (await openTestStore(path)).close();
    return path;
  }

  test('as the last writer left it, is opened without a look at the entries that a checkpoint covers', async () => {
    const path = await closeHere();
    const expected = await readEntries(path);
    for (let number = 1; number <= 100; number++) writeFileSync(entryPath(path, number), 'changed in place');
    expect(await readLedger(path)).toEqual(expected);
    // A copy is another folder.
    await expect(readLedger(copyOf(path))).rejects.toMatchObject({ code: 'bad-ledger' });
    expect((await inspect(path)).faults).toHaveLength(100);
  });

  test('is read where another program put an entry in the place of one', async () => {
    const path = await closeHere();
    fillEntry(path, 4);
    const { effective } = await readLedger(path);
    expect(effective.map(({ number }) => number)).not.toContain(4);
    expect({ effective }).toEqual({ effective: (await readEntries(path)).effective });
  });

  test('is read where entries were added by another program, which leaves the stamp as it is', async () => {
    const path = await closeHere();
    const stamp = join(path, '_checkpoints', 'ledger.stamp');
    const before = readFileSync(stamp, 'utf8');
    const store = await openTestStore(path);
    await commitEmpty(store, 3, 7001);
    await store.close();
    expect(readFileSync(stamp, 'utf8')).not.toBe(before);
    writeFileSync(stamp, before);
    expect((await readLedger(path)).nextNumber).toBe(106);
    rmSync(entryPath(path, 104));
    await expect(readLedger(path)).rejects.toMatchObject({ code: 'bad-ledger' });
  });

  test('tells a reader of entries that are added, and of one that is missing among them', async () => {
    const path = await closeHere();
    const ledger = new LedgerFolder(path);
    await ledger.refresh();
    expect(await ledger.refresh()).toEqual([]);
    const store = await openTestStore(path);
    await commitEmpty(store, 40, 7001);
    await store.close();
    expect(await ledger.refresh()).toHaveLength(40);
    const again = await openTestStore(path);
    await commitEmpty(again, 2, 9001);
    await again.close();
    rmSync(entryPath(path, 143));
    await expect(ledger.refresh()).rejects.toMatchObject({ code: 'bad-ledger' });
    await expect(ledger.refresh()).rejects.toMatchObject({ code: 'bad-ledger' });
  });
});

test('a run killed before, or while, it writes a checkpoint has committed, and the next commit writes one', async () => {
  const path = freshPath('parquet');
  const copies: string[] = [];
  await (await openTestStore(path)).close();
  const store = await openTestStore(path, {
    onStep: async (step) => {
      if (step !== 'write checkpoint') return;
      const copy = copyOf(path);
      rmSync(join(copy, '_lock'));
      copies.push(copy);
    },
  });
  await commitEmpty(store, 100);
  await store.close();
  const [before] = copies;
  if (before === undefined) throw new Error('expected a step before the checkpoint');
  expect(copies).toHaveLength(1);
  const during = copyOf(before);
  writeFileSync(join(during, '_stage', 'checkpoint.jsonl'), 'half of it');
  for (const copy of [before, during]) {
    expect(checkpointsOf(copy)).toEqual([]);
    const next = await openTestStore(copy);
    expect(next.ledger()).toHaveLength(100);
    await commitEmpty(next, 1, 5000);
    await next.close();
    expect(checkpointsOf(copy)).toEqual(['00000101.jsonl']);
  }
});

test('a checkpoint that cannot be written fails no commit', async () => {
  const path = freshPath('parquet');
  const store = await openTestStore(path);
  for (const number of [100, 101]) mkdirSync(checkpointPath(path, number), { recursive: true });
  await commitEmpty(store, 101);
  expect(store.ledger()).toHaveLength(101);
  await store.close();
  const reader = await openTestReader(path);
  expect(await reader.ledger()).toHaveLength(101);
});

describe('opening', () => {
  /** How often a writer that commits nothing writes the catalog. */
  async function catalogsOf(path: string, more: Parameters<typeof openTestStore>[1] = {}): Promise<number> {
    let count = 0;
    const onStep = async (step: string) => {
      if (step === 'write catalog') count++;
    };
    await (await openTestStore(path, { ...more, onStep })).close();
    return count;
  }

  test('leaves a catalog as it is that shows what is committed', async () => {
    const path = await makeItems('parquet', [0, 9]);
    expect(await catalogsOf(path)).toBe(0);
    await addItems(path, [10, 19]);
    expect(await catalogsOf(path)).toBe(0);
  });

  const changes: Readonly<Record<string, (path: string) => void>> = {
    'is lost': (path) => rmSync(join(path, 'warehouse.duckdb')),
    'is torn': (path) => writeFileSync(join(path, 'warehouse.duckdb'), 'torn'),
    'is another one': (path) => cpSync(join(made, 'warehouse.duckdb'), join(path, 'warehouse.duckdb')),
    'has a foreign log': (path) => writeFileSync(join(path, 'warehouse.duckdb.wal'), 'of somebody else'),
    'is older than the last entry': (path) => {
      const { id, ...entry } = JSON.parse(readFileSync(entryPath(path, 1), 'utf8'));
      const next = { ...entry, id: realEffects.freshId(), number: 2, tables: {}, supersedes: [id] };
      writeFileSync(entryPath(path, 2), `${JSON.stringify(next)}\n`);
    },
  };

  test.each(Object.keys(changes))('makes a catalog anew that %s', async (name) => {
    const path = await makeItems('parquet', [0, 9]);
    changes[name]?.(path);
    expect(await catalogsOf(path)).toBe(1);
    expect(await catalogsOf(path)).toBe(0);
  });

  test('a commit adds to the catalog that was there, and what others changed in it is gone', async () => {
    const path = await makeItems('parquet', [0, 9]);
    for (const [from, foreign] of [
      [10, false],
      [20, true],
    ] as const) {
      const store = await openTestStore(path);
      if (foreign) await editFile(join(path, 'warehouse.duckdb'), FOREIGN_CHANGES);
      await commitItems(store, from, from + 9);
      await store.close();
      expect(await countCatalog(path)).toEqual({ items: from + 10, parts: 2 * (from + 10), commits: from / 10 + 1 });
    }
  });

  test('makes a catalog anew for other tables, entries set aside, and a warehouse that was moved', async () => {
    const path = await makeItems('parquet', [0, 9]);
    expect(await catalogsOf(path, { tables: [items] })).toBe(1);
    expect(await catalogsOf(path)).toBe(1);
    const { effective } = await readLedger(path);
    expect(await catalogsOf(path, { setAside: new Set(effective.map(({ id }) => id)) })).toBe(1);
    expect(await catalogsOf(path)).toBe(1);
    expect(await catalogsOf(copyOf(path))).toBe(1);
  });
});

test('a catalog that took long to write is written less often', async () => {
  const waits: number[] = [];
  let now = 0;
  const path = freshPath('parquet');
  const options = {
    effects: { ...realEffects, monotonic: () => now, sleep: async (ms: number) => void waits.push(ms) },
    onStep: async (step: string) => {
      if (step === 'write catalog') now += 500;
    },
  };
  const store = await openTestStore(path, options);
  await commitEmpty(store, 1);
  await vi.waitFor(() => expect(existsSync(join(path, '_checkpoints', 'catalog.sha256'))).toBe(true));
  await commitEmpty(store, 1, 5000);
  await store.close();
  expect(waits).toEqual([3000, 10_000]);
});

test('the log has entries that a checkpoint left out', async () => {
  const path = freshPath('parquet');
  const effects = clockAt(start);
  const store = await openTestStore(path, { effects });
  const { id } = await commitItems(store, 1, 2);
  await commitItems(store, 1, 2, { supersedes: [id] });
  const spans = [3, 4].map((from) => ({ from, to: from }));
  await store.commitTogether(
    await Promise.all(spans.map(async (span) => ({ staged: await stageItems(store, span), draft: draftOf(span) }))),
  );
  effects.time += 3 * DAY;
  await commitEmpty(store, 98);
  await store.close();
  const entries = (await (await openedLedger(path)).log(0)).map(({ number }) => number);
  expect(entries).toEqual(Array.from({ length: 102 }, (_, at) => at + 1));
  const reader = await openTestReader(path);
  expect((await reader.log(0)).map(({ number }) => number)).toEqual(entries);
  expect((await reader.log(101)).map(({ number }) => number)).toEqual([102]);
  const first = (await reader.log(0, 10)).map(({ number }) => number);
  expect(first.length).toBeGreaterThanOrEqual(10);
  expect(first.length).toBeLessThan(60);
  expect(first).toEqual(entries.slice(0, first.length));
  expect((await reader.log(101, 10)).map(({ number }) => number)).toEqual([102]);
});

async function openedLedger(path: string): Promise<LedgerFolder> {
  const ledger = new LedgerFolder(path);
  await ledger.refresh();
  expect(ledger.entries.all.map(({ number }) => number)).not.toContain(1);
  return ledger;
}
