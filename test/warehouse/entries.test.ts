import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Entries } from '../../src/warehouse/ledger/entries.ts';
import type { LedgerEntry } from '../../src/warehouse/store.ts';
import { entryOf } from './warehouses.ts';

const DAY = 86_400_000;

/** One of three tables. */
const tablesOf = (number: number) =>
  ({ [`t${number % 3}`]: { files: [{ path: `f${number}` }] } }) as unknown as LedgerEntry['tables'];

/** What a commit does: to entries in force, chosen by position, and how much later than the one before, on a clock that may go back. */
const commit = fc.record({
  hours: fc.integer({ min: -30, max: 40 }),
  supersedes: fc.array(fc.nat({ max: 20 }), { maxLength: 3 }),
  isForgotten: fc.boolean(),
  parts: fc.constantFrom(0, 0, 0, 1, 2),
  isCutShort: fc.boolean(),
});

/** A ledger as stores make them. */
const ledger = fc.array(commit, { maxLength: 25 }).map((commits) => {
  const entries = new Entries();
  let time = 100 * DAY;
  for (const { hours, supersedes, isForgotten, parts, isCutShort } of commits) {
    time += (hours * DAY) / 24;
    const add = (more: Partial<LedgerEntry>) => {
      const number = entries.nextNumber;
      entries.add(entryOf(number, { tables: tablesOf(number), committedAt: new Date(time).toISOString(), ...more }));
    };
    const last = entries.nextNumber + parts;
    for (let part = 0; part < parts; part++) add({ commitWith: `e${last}` });
    if (isCutShort) {
      add({ commitWith: 'never' });
      continue;
    }
    const inForce = entries.effective;
    const old = supersedes.flatMap((at) => inForce[at]?.id ?? []);
    add({ supersedes: isForgotten ? [...old, `e${last}`] : old, ...(isForgotten ? { scope: 'forgotten' } : {}) });
  }
  return entries.all;
});

function read(all: readonly LedgerEntry[]): Entries {
  const entries = new Entries();
  for (const entry of all) entries.add(entry);
  return entries;
}

test('what is in force is the same whether it was asked for after each entry or in the end', () => {
  fc.assert(
    fc.property(ledger, (all) => {
      const entries = new Entries();
      for (const [at, entry] of all.entries()) {
        entries.add(entry);
        expect(entries.effective).toEqual(read(all.slice(0, at + 1)).effective);
      }
    }),
  );
});

test('what a checkpoint of any ledger keeps says the same as all of its entries, also after later ones', () => {
  fc.assert(
    fc.property(ledger, fc.nat({ max: 60 }), (all, cut) => {
      const before = read(all.slice(0, cut));
      // A cut within a commit of several is no place for a checkpoint.
      fc.pre(!all.slice(0, cut).some(({ commitWith }) => all.slice(cut).some(({ id }) => id === commitWith)));
      const restored = new Entries();
      restored.restore({
        number: before.lastNumber,
        since: before.retainedSince,
        published: [],
        entries: before.retained,
      });
      for (const entry of [undefined, ...all.slice(cut)]) {
        if (entry !== undefined) {
          before.add(entry);
          restored.add(entry);
        }
        expect(restored.effective).toEqual(before.effective);
        expect(restored.forgotten).toEqual(before.forgotten);
        expect(restored.nextNumber).toBe(before.nextNumber);
        expect(restored.retained).toEqual(before.retained);
      }
    }),
  );
});

test('what a checkpoint keeps for published states has all of their files, also after later entries and checkpoints', () => {
  fc.assert(
    fc.property(ledger, fc.nat({ max: 60 }), fc.array(fc.nat({ max: 60 }), { maxLength: 3 }), (all, cut, published) => {
      fc.pre(!all.slice(0, cut).some(({ commitWith }) => all.slice(cut).some(({ id }) => id === commitWith)));
      const whole = read(all.slice(0, cut));
      whole.retainFor(published);
      let restored = new Entries();
      const restore = ({
        lastNumber: number,
        retainedSince: since,
        retainedFor,
        retained: entries,
      }: Entries): Entries => {
        const made = new Entries();
        made.restore({ number, since, published: retainedFor, entries });
        return made;
      };
      restored = restore(whole);
      const shown = ({ superseded }: Entries, at: number) =>
        superseded.filter(({ number, by }) => number <= at && at < by.number).flatMap(({ files }) => files);
      for (const entry of [undefined, ...all.slice(cut)]) {
        if (entry !== undefined) {
          whole.add(entry);
          restored.add(entry);
          if (entry.number % 7 === 0 && entry.commitWith === undefined) restored = restore(restored);
        }
        expect(restored.effective).toEqual(whole.effective);
        for (let at = 0; at <= whole.lastNumber; at++) {
          if (restored.hasAllOf([at])) expect(shown(restored, at).sort()).toEqual(shown(whole, at).sort());
        }
        for (const at of published) expect(restored.hasAllOf([at])).toBe(true);
      }
    }),
  );
});

test('a ledger that prunes what a checkpoint leaves out says the same as one that does not', () => {
  fc.assert(
    fc.property(ledger, fc.nat({ max: 60 }), (all, cut) => {
      const whole = new Entries();
      const pruned = new Entries(1);
      for (const [at, entry] of all.entries()) {
        whole.add(entry);
        pruned.add(entry);
        if (at < cut) pruned.prune();
        expect(pruned.effective).toEqual(whole.effective);
        expect(pruned.forgotten).toEqual(whole.forgotten);
        expect(pruned.lastNumber).toBe(whole.lastNumber);
        expect(pruned.retained).toEqual(whole.retained);
        const changed = whole.tablesSince(cut);
        for (const table of changed) expect(pruned.tablesSince(cut)).toContain(table);
      }
    }),
  );
});

test('a ledger that also prunes what a checkpoint keeps says the same, and knows what a checkpoint keeps', () => {
  fc.assert(
    fc.property(ledger, fc.array(fc.integer({ min: 0, max: 60 })), (all, hours) => {
      const whole = new Entries();
      const pruned = new Entries();
      for (const [at, entry] of all.entries()) {
        whole.add(entry);
        pruned.add(entry);
        const isOpen = entry.commitWith !== undefined && all.slice(at + 1).some(({ id }) => id === entry.commitWith);
        const age = hours[at];
        // Between the entries of one commit, stores do nothing else.
        if (age !== undefined && !isOpen)
          pruned.pruneBefore(Date.parse(entry.committedAt) - (age * DAY) / 24, () => true);
        expect(pruned.effective).toEqual(whole.effective);
        expect(pruned.forgotten).toEqual(whole.forgotten);
        expect(pruned.nextNumber).toBe(whole.nextNumber);
        expect(pruned.retainedNumbers).toEqual(whole.retained.map(({ number }) => number));
        for (const table of whole.tablesSince(at >> 1)) expect(pruned.tablesSince(at >> 1)).toContain(table);
      }
    }),
  );
});

test('a ledger that prunes knows the files of superseded entries until it is told that they are gone', () => {
  const gap = fc.nat({ max: 30 });
  fc.assert(
    fc.property(ledger, fc.array(fc.tuple(gap, gap)), (all, ages) => {
      const whole = new Entries();
      const pruned = new Entries();
      let gone = Number.NEGATIVE_INFINITY;
      for (const [at, entry] of all.entries()) {
        whole.add(entry);
        pruned.add(entry);
        const isOpen = entry.commitWith !== undefined && all.slice(at + 1).some(({ id }) => id === entry.commitWith);
        const [age, more] = ages[at] ?? [];
        if (age !== undefined && more !== undefined && !isOpen) {
          const time = Date.parse(entry.committedAt) - (age * DAY) / 24;
          gone = Math.max(gone, time - (more * DAY) / 24);
          pruned.pruneBefore(time, ({ by }) => by.committedAt <= time - (more * DAY) / 24);
        }
        const lasting = new Set(whole.retained.map(({ number }) => number));
        const present = ({ superseded }: Entries) =>
          superseded
            .filter(({ number, by, files }) => files.length > 0 && by.committedAt > gone && lasting.has(number))
            .sort((a, b) => a.number - b.number);
        expect(present(pruned)).toEqual(present(whole));
      }
    }),
  );
});

test('the files of entries that were superseded long ago are not kept, only their numbers', () => {
  const entries = new Entries();
  for (let number = 1; number <= 48; number++) {
    const supersedes = number === 1 ? [] : [`e${number - 1}`];
    const committedAt = new Date((number * DAY) / 24).toISOString();
    entries.add(entryOf(number, { span: { from: 1, to: 1 }, supersedes, tables: tablesOf(number), committedAt }));
  }
  entries.pruneBefore(46.5 * (DAY / 24), ({ by }) => by.committedAt <= 40.5 * (DAY / 24));
  expect(entries.all.map(({ number }) => number)).toEqual([46, 47, 48]);
  expect(entries.superseded.filter(({ files }) => files.length > 0).map(({ number }) => number)).toEqual([
    40, 41, 42, 43, 44, 45, 46, 47,
  ]);
  expect(entries.retainedNumbers).toHaveLength(25);
});

/** Commits of some days, each of which supersedes the one before. */
function commitFor(
  days: number,
  perDay: number,
  prune: (entries: Entries, now: number) => void,
): Entries & { most: number } {
  const entries = Object.assign(new Entries(100), { most: 0 });
  for (let at = 0; at < days * perDay; at++) {
    const number = entries.nextNumber;
    const [before] = entries.effective;
    const now = (at * DAY) / perDay;
    const supersedes = before === undefined ? [] : [before.id];
    entries.add(entryOf(number, { supersedes, committedAt: new Date(now).toISOString() }));
    if (number % 10 === 0) prune(entries, now);
    entries.most = Math.max(entries.most, entries.all.length);
  }
  return entries;
}

test('a process that commits for weeks keeps the entries of a day or two', () => {
  expect(commitFor(20, 200, (entries) => entries.prune()).most).toBeLessThan(2.1 * 200);
});

test('a writer that commits for weeks keeps the entries of two hours, and the numbers of a day', () => {
  const entries = commitFor(20, 240, (each, now) => each.pruneBefore(now - 2 * (DAY / 24), () => true));
  expect(entries.most).toBeLessThan(20 + 10 + 2);
  expect(entries.retainedNumbers).toHaveLength(240 + 1);
});
