import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { type Span, subtractSpans, unionSpans } from '../../src/core/span.ts';
import type { PipelineDef } from '../../src/declare/pipeline.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { nextStep } from '../../src/feed/consume.ts';
import { type Cursor, formatCursor, parseCursor, startAt } from '../../src/feed/cursor.ts';
import { type NextRows, planNext } from '../../src/feed/next-rows.ts';
import type { LedgerEntry, TableEntry } from '../../src/warehouse/index.ts';
import { FORGOTTEN, spansOf } from '../../src/warehouse/index.ts';

const registry = await loadRegistry();

/** What happens to a warehouse. Numbers choose among what is there. */
type Act =
  | { readonly kind: 'commit'; readonly size: number }
  | { readonly kind: 'read again' | 'forget' | 'export again' | 'partial'; readonly which: number }
  | { readonly kind: 'merge'; readonly which: number; readonly count: number }
  | { readonly kind: 'consume'; readonly steps: number; readonly isKilled: boolean };

const which = fc.nat(50);
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('commit' as const), size: fc.integer({ min: 1, max: 5 }) }) },
  fc.record({
    kind: fc.constantFrom('read again' as const, 'forget' as const, 'export again' as const, 'partial' as const),
    which,
  }),
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('merge' as const), which, count: fc.integer({ min: 2, max: 6 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('consume' as const), steps: fc.nat(4), isKilled: fc.boolean() }),
  },
);

/** A warehouse of one pipeline whose rows are versions of blocks: one row each. A list has its rows by logical time. */
class Model {
  readonly all: LedgerEntry[] = [];
  readonly gone = new Set<string>();
  /** Version of each block by entry. */
  readonly rows = new Map<string, ReadonlyMap<number, number>>();
  readonly forgotten: Span[] = [];
  head = 0;
  version = 0;
  readonly pipeline: PipelineDef;
  readonly table: string;

  constructor(name: string) {
    this.pipeline = registry.pipeline(name);
    this.table = this.pipeline.tables[0]?.name ?? '';
  }

  get isList(): boolean {
    return this.pipeline.walk.kind === 'lt';
  }

  get ledger(): readonly LedgerEntry[] {
    return this.all.filter(({ id }) => !this.gone.has(id));
  }

  get proven(): readonly LedgerEntry[] {
    return this.ledger.filter(({ scope }) => scope === undefined);
  }

  add(rows: ReadonlyMap<number, number>, more: Partial<LedgerEntry> = {}): void {
    const number = this.all.length + 1;
    const spans = more.spans ?? unionSpans([...rows.keys()].map((seqno) => ({ from: seqno, to: seqno })));
    const [first, last] = [spans[0]?.from ?? 0, spans.at(-1)?.to ?? 0];
    const lts = [...rows.keys()].map((seqno) => seqno * 1000);
    const [leading = ''] = this.pipeline.tables[0]?.sort ?? [];
    const bounds = { [leading]: [String(Math.min(...lts)), String(Math.max(...lts)), 0] as const };
    const files = [{ path: `f${number}`, rows: rows.size, bytes: 1, bounds, sha256: '' }];
    const part: TableEntry = { rows: rows.size, keyHash: '', sums: {}, schema: '', files };
    const id = more.id ?? `e${number}`;
    this.all.push({
      ...{ format: 1, number, id, network: 'x', pipeline: this.pipeline.name, version: 1, verdict: 'accepted' },
      ...{ span: { from: first, to: last }, spans, tables: { [this.table]: part }, requests: 0, retries: 0 },
      ...{ supersedes: [], committedAt: '' },
      ...more,
    });
    this.rows.set(id, rows);
    for (const old of more.supersedes ?? []) this.gone.add(old);
  }

  fresh(blocks: Iterable<number>): ReadonlyMap<number, number> {
    return new Map([...blocks].map((seqno) => [seqno, ++this.version]));
  }

  act(step: Act): void {
    if (step.kind === 'commit') {
      const blocks = Array.from({ length: step.size }, (_, at) => this.head + 1 + at);
      this.head += step.size;
      return this.add(this.fresh(blocks));
    }
    if (step.kind === 'consume') return;
    const own = this.proven;
    const chosen = own[step.which % Math.max(1, own.length)];
    if (step.kind === 'merge') {
      const merged = own.slice(step.which % Math.max(1, own.length)).slice(0, step.count);
      if (merged.length < 2) return;
      const rows = new Map(merged.flatMap(({ id }) => [...(this.rows.get(id) ?? [])]));
      return this.add(rows, { copies: 1, supersedes: merged.map(({ id }) => id) });
    }
    if (step.kind === 'export again') {
      const [span] = subtractSpans([{ from: 1, to: this.head }], this.proven.flatMap(spansOf));
      if (span === undefined) return;
      const partial = this.ledger.filter(({ scope }) => scope === 'part of the rows').map(({ id }) => id);
      return this.add(this.fresh([span.from]), { supersedes: partial });
    }
    if (chosen === undefined) return;
    const blocks = [...(this.rows.get(chosen.id)?.keys() ?? [])];
    if (step.kind === 'partial') {
      const rows = this.fresh(blocks);
      return this.add(rows, { scope: 'part of the rows', supersedes: [chosen.id] });
    }
    if (step.kind === 'read again') return this.add(this.fresh(blocks), { supersedes: [chosen.id] });
    // The first block goes, the others are kept. Lists cannot be cut.
    const [first, ...others] = blocks;
    const kept = this.isList ? [] : others;
    const to = this.isList ? blocks.at(-1) : first;
    const old = this.rows.get(chosen.id);
    if (kept.length > 0) this.add(new Map(kept.map((seqno) => [seqno, old?.get(seqno) ?? 0])), { copies: 1 });
    const id = `t${this.all.length + 1}`;
    const spans = [{ from: first ?? 0, to: to ?? 0 }];
    this.add(new Map(), { id, spans, scope: FORGOTTEN, supersedes: [chosen.id, id], tables: {} });
  }
}

/** The cursor of a consumer that starts before the first commit. */
const EMPTY: Cursor = { network: 'x', tables: [], number: 0, since: 0, id: null, rest: {}, delivered: {} };

/** Stores the cursor with the effect, and loses what it did since when it is killed. */
class Consumer {
  readonly seen = new Map<number, number>();
  /** How often each version of a block was handed out. */
  readonly times = new Map<number, number>();
  stored: string;
  readonly model: Model;

  constructor(model: Model, start = EMPTY) {
    this.model = model;
    this.stored = formatCursor(start);
  }

  /** @returns false at the end */
  consume(isKilled: boolean): boolean {
    const { model } = this;
    const { pipeline } = model;
    const cursor = parseCursor(this.stored);
    const log = model.all.filter(({ number }) => number >= cursor.since);
    const state = { log, ledger: model.ledger, followed: [{ pipeline, tables: pipeline.tables }], batchRows: 3 };
    const step = planNext(state, cursor);
    if (step.rows === undefined) {
      this.stored = formatCursor(step.cursor);
      return false;
    }
    // The effect and the cursor are stored together, or not at all.
    if (isKilled) return true;
    for (const [seqno, version] of this.read(step.rows)) {
      // The rows of an entry of a list come together, those that came before and those that did not.
      const isBefore = this.seen.has(seqno) || (model.isList && step.rows.replaces);
      expect(isBefore).toBe(step.rows.replaces);
      this.seen.set(seqno, version);
      this.times.set(version, (this.times.get(version) ?? 0) + 1);
    }
    this.stored = formatCursor(step.cursor);
    return true;
  }

  private read({ entries, spans, limits }: NextRows): readonly (readonly [number, number])[] {
    const rows = entries.flatMap(({ id }) => [...(this.model.rows.get(id) ?? [])]);
    const isWanted = ([seqno]: readonly [number, number]): boolean =>
      spans.some(({ from, to }) => seqno >= from && seqno <= to);
    // Without limits, all rows of the entries are read, whatever the spans.
    if (limits === undefined) return rows;
    const chosen = rows.filter(isWanted);
    const [expected] = limits.rows?.values() ?? [];
    if (expected !== undefined) expect(chosen).toHaveLength(expected);
    return chosen;
  }
}

function replay(pipeline: string, before: readonly Act[], acts: readonly Act[]): void {
  const model = new Model(pipeline);
  for (const step of before) model.act(step);
  const followed = [{ pipeline: model.pipeline, tables: model.pipeline.tables }];
  const consumer = new Consumer(model, before.length === 0 ? EMPTY : startAt('x', model.ledger, followed, []));
  for (const step of acts) {
    model.act(step);
    if (step.kind !== 'consume') continue;
    for (let at = 0; at < step.steps; at++) consumer.consume(step.isKilled);
  }
  while (consumer.consume(false));
  const inForce = new Map(model.proven.flatMap(({ id }) => [...(model.rows.get(id) ?? [])]));
  for (const [seqno, version] of inForce) expect([seqno, consumer.seen.get(seqno)]).toEqual([seqno, version]);
  for (const [version, times] of consumer.times) expect([version, times]).toEqual([version, 1]);
}

describe('a consumer sees each row once, whatever happens to the warehouse between', () => {
  test.each(['transactions', 'jetton_transfers'])('%s', (pipeline) => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 60 }), (acts) => replay(pipeline, [], acts)),
      { numRuns: 300 },
    );
  });

  test('and if it starts late', () => {
    const acts = fc.array(act, { maxLength: 40 });
    fc.assert(
      fc.property(acts, acts, (before, after) => replay('transactions', before, after)),
      { numRuns: 300 },
    );
  });
});

describe('a merged entry of a list', () => {
  test('that was read again and merged with newer rows gives each row once', () => {
    const commit = { kind: 'commit', size: 3 } as const;
    const merge = { kind: 'merge', which: 0, count: 2 } as const;
    replay('jetton_transfers', [], [commit, commit, merge, { kind: 'read again', which: 0 }, commit, merge]);
  });

  test('that was read again, in part new, and merged with older rows gives each row once', () => {
    const commits = [1, 2, 1].map((size) => ({ kind: 'commit', size }) as const);
    const merge = (which: number) => ({ kind: 'merge', which, count: 2 }) as const;
    const consume = { kind: 'consume', steps: 2, isKilled: false } as const;
    replay('jetton_transfers', [], [...commits, merge(1), consume, { kind: 'read again', which: 1 }, merge(0)]);
  });

  test('is read by as many rows at once as asked for, and the entries before it had', () => {
    const model = new Model('jetton_transfers');
    for (let at = 0; at < 30; at++) model.act({ kind: 'commit', size: 2 });
    model.act({ kind: 'merge', which: 0, count: 30 });
    expect(model.proven).toHaveLength(1);
    const followed = [{ pipeline: model.pipeline, tables: model.pipeline.tables }];
    const state = { log: model.all, ledger: model.ledger, followed, batchRows: 10 };
    const sizes: number[] = [];
    let cursor = EMPTY;
    for (;;) {
      const step = planNext(state, cursor);
      if (step.rows === undefined) break;
      sizes.push(step.rows.limits?.rows?.get(model.table) ?? Number.POSITIVE_INFINITY);
      cursor = step.cursor;
    }
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(60);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(10 + 2);
  });

  test('is planned with a few looks at each entry before it', () => {
    const model = new Model('jetton_transfers');
    for (let at = 0; at < 200; at++) model.act({ kind: 'commit', size: 2 });
    model.act({ kind: 'merge', which: 0, count: 200 });
    let looks = 0;
    const log = model.all.map(({ spans, ...entry }) => ({
      ...entry,
      get spans() {
        looks++;
        return spans;
      },
    }));
    const followed = [{ pipeline: model.pipeline, tables: model.pipeline.tables }];
    expect(planNext({ log, ledger: model.ledger, followed, batchRows: 10 }, EMPTY).rows).toBeDefined();
    expect(looks).toBeLessThan(20 * log.length);
  });

  test('is planned once for each piece', async () => {
    const model = new Model('jetton_transfers');
    model.act({ kind: 'commit', size: 2 });
    const ledger = [...model.ledger];
    const looks = vi.spyOn(ledger, 'filter');
    const view = {
      ...{ network: 'x', query: () => expect.fail('asked'), select: () => '' },
      ...{ log: async () => model.all, ledger: async () => ledger },
    };
    const followed = [{ pipeline: model.pipeline, tables: model.pipeline.tables }];
    planNext({ log: model.all, ledger, followed, batchRows: 10 }, EMPTY);
    const once = looks.mock.calls.length;
    const step = await nextStep(view, followed, EMPTY, 10, async ({ spans }) => spans);
    expect(step.read).toEqual([{ from: 1, to: 2 }]);
    expect(looks.mock.calls.length - once).toBe(once);
  });
});
