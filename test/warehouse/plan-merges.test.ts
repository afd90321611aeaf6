import { describe, expect, test } from 'vitest';
import { unionSpans } from '../../src/core/span.ts';
import { block, pipeline } from '../../src/declare/index.ts';
import { planMerges } from '../../src/warehouse/compaction/plan-merges.ts';
import { spansOf } from '../../src/warehouse/ledger/done-spans.ts';
import type { LedgerEntry } from '../../src/warehouse/store.ts';
import { tables } from './compacting.ts';
import { items } from './tables.ts';
import { entryOf, itemsIn } from './warehouses.ts';

const start = Date.parse('2026-05-01T00:00:00Z');
const targetBytes = 128e6;
/** Bytes of the footer, and of each row. */
const [FOOTER, ROW] = [3000, 60];
const walked = pipeline({
  ...{ name: 'items', doc: '', endpoint: 'GET /items', tables: [items] },
  walk: block({ seqno: 'mc_seqno', column: 'lt', lookBack: 2000 }),
});

/** A warehouse that is followed: commits and merges change its ledger, and write bytes. */
class Followed {
  ledger: LedgerEntry[] = [];
  head = 0;
  now = start;
  number = 0;
  written = 0;
  most = 0;
  readonly lookBack: boolean;

  constructor(lookBack = false) {
    this.lookBack = lookBack;
  }

  commit(blocks: number, rows: number): void {
    const span = { from: this.head + 1, to: this.head + blocks };
    this.head += blocks;
    const day = new Date(this.now).toISOString().slice(0, 10);
    this.add([span], new Map([[day, rows]]), false, this.lookBack ? { from: this.head, to: this.head } : undefined);
  }

  /** Reads entries again whose rows are final now. */
  readAgain(): void {
    const due = this.ledger.filter(
      ({ asOf, span }) => asOf !== undefined && span.to <= this.head - 2000 && span.to > asOf.from - 2000,
    );
    for (const entry of due) {
      this.remove([entry]);
      this.add(spansOf(entry), rowsOf([entry]), false, { from: this.head, to: this.head });
    }
  }

  merge(): void {
    for (;;) {
      const [group] = planMerges(this.ledger, { tables, pipelines: [walked], targetBytes, now: this.now });
      if (group === undefined) break;
      this.replace(group.entries, group.spans, group.isReadAgain ? group.entries[0]?.asOf : undefined);
    }
    const files = this.ledger.reduce((sum, { tables: own }) => sum + (own['items']?.files.length ?? 0), 0);
    this.most = Math.max(this.most, files);
  }

  replace(entries: readonly LedgerEntry[], spans: LedgerEntry['spans'] & object, asOf?: LedgerEntry['asOf']): void {
    this.remove(entries);
    this.add(spans, rowsOf(entries), true, asOf);
  }

  private remove(entries: readonly LedgerEntry[]): void {
    this.ledger = this.ledger.filter((entry) => !entries.includes(entry));
  }

  private add(
    spans: LedgerEntry['spans'] & object,
    rows: ReadonlyMap<string, number>,
    copies: boolean,
    asOf: LedgerEntry['asOf'],
  ): void {
    const covered = unionSpans(spans);
    const span = { from: covered[0]?.from ?? 0, to: covered.at(-1)?.to ?? 0 };
    const id = String(++this.number);
    const files = [...rows]
      .filter(([, count]) => count > 0)
      .map(([day, count]) => {
        return { path: `tables/items/block_date=${day}/${id}`, rows: count, bytes: FOOTER + count * ROW };
      });
    this.written += files.reduce((sum, { bytes }) => sum + bytes, 0);
    const entry = entryOf(this.number, {
      ...{ id, span, asOf, committedAt: new Date(this.now).toISOString(), tables: itemsIn(files) },
      ...(covered.length > 1 ? { spans: covered } : {}),
      ...(copies ? { copies: this.number } : {}),
    });
    this.ledger.push(entry);
  }
}

function rowsOf(entries: readonly LedgerEntry[]): ReadonlyMap<string, number> {
  const rows = new Map<string, number>();
  for (const { path, rows: count } of entries.flatMap(({ tables: own }) => own['items']?.files ?? [])) {
    const [, day = ''] = /block_date=([^/]*)/.exec(path) ?? [];
    rows.set(day, (rows.get(day) ?? 0) + count);
  }
  return rows;
}

describe('a day of commits every ten seconds', () => {
  test.each([
    ['of few blocks', 4, 20],
    ['now and then without rows', 4, 0],
  ])('%s leaves few files, and writes each row a few times', (_, blocks, rows) => {
    const followed = new Followed();
    let own = 0;
    for (let at = 0; at < 9000; at++) {
      followed.now += 10_000;
      const count = rows === 0 ? Number(at % 7 === 0) * 10 : rows;
      own += count * ROW;
      followed.commit(blocks, count);
      // Merging has a share of the time only.
      if (at % 12 === 0) followed.merge();
    }
    expect(followed.most).toBeLessThanOrEqual(60);
    expect(unionSpans(followed.ledger.flatMap(spansOf))).toEqual([{ from: 1, to: followed.head }]);
    expect(followed.written).toBeLessThan(8 * (own + 9000 * FOOTER));
    const first = followed.ledger.filter(({ tables: own }) =>
      own['items']?.files.some(({ path }) => path.includes('-05-01')),
    );
    expect(planMerges(first, { tables, pipelines: [], targetBytes })).toEqual([]);
  });

  test('of two pipelines, with time for a merge at every twentieth, leaves the files of neither aside', () => {
    const [one, other] = [new Followed(), new Followed()];
    for (let at = 0; at < 2000; at++) {
      for (const followed of [one, other]) {
        followed.now += 10_000;
        followed.commit(12, 20);
      }
      if (at % 20 !== 0) continue;
      const renamed = other.ledger.map((entry) => ({ ...entry, pipeline: 'others' }));
      const ledger = [...one.ledger, ...renamed];
      const [group] = planMerges(ledger, { tables, pipelines: [], targetBytes, now: one.now });
      if (group === undefined) continue;
      const ids = new Set(group.entries.map(({ id }) => id));
      const merged = group.pipeline === 'others' ? other : one;
      merged.replace(
        merged.ledger.filter(({ id }) => ids.has(id)),
        group.spans,
      );
      for (const followed of [one, other]) expect(followed.ledger.length).toBeLessThan(150);
    }
  });

  test('that are read again once they are final leaves few files, too', () => {
    const followed = new Followed(true);
    for (let at = 0; at < 1500; at++) {
      followed.now += 10_000;
      followed.commit(4, 20);
      followed.readAgain();
      if (at % 12 === 0) followed.merge();
    }
    expect(followed.most).toBeLessThanOrEqual(60);
  });
});

test('rows that will be read again keep when the first of them were read', () => {
  const followed = new Followed(true);
  for (let at = 0; at < 3; at++) followed.commit(4, 20);
  const [group] = planMerges(followed.ledger, { tables, pipelines: [walked], targetBytes, now: start });
  expect(group).toMatchObject({ isReadAgain: true, spans: [{ from: 1, to: 12 }] });
});

test('a day is closed only when nothing was added to it for a while, with the blocks without rows in it', () => {
  const followed = new Followed();
  followed.commit(2, 20);
  followed.commit(2, 0);
  followed.commit(2, 20);
  followed.now += 86_400_000;
  followed.commit(2, 20);
  const planAt = (now: number) => planMerges(followed.ledger, { tables, pipelines: [], targetBytes, now });
  expect(planAt(start + 60_000)).toEqual([]);
  expect(planAt(start + 3_600_000)).toMatchObject([{ spans: [{ from: 1, to: 6 }] }]);
});
