import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Entries } from '../../src/warehouse/ledger/entries.ts';
import type { LedgerEntry } from '../../src/warehouse/store.ts';
import { draftOf } from './warehouses.ts';

const DAY = 86_400_000;

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
      entries.add({
        ...draftOf({ from: number, to: number }),
        ...{ format: 1, number, id: `e${number}`, tables: {}, committedAt: new Date(time).toISOString(), ...more },
      });
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
      restored.restore({ number: before.nextNumber - 1, entries: before.lasting });
      for (const entry of [undefined, ...all.slice(cut)]) {
        if (entry !== undefined) {
          before.add(entry);
          restored.add(entry);
        }
        expect(restored.effective).toEqual(before.effective);
        expect(restored.forgotten).toEqual(before.forgotten);
        expect(restored.nextNumber).toBe(before.nextNumber);
        expect(restored.lasting).toEqual(before.lasting);
      }
    }),
  );
});
