import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Span } from '../../src/core/span.ts';
import type { PipelineDef } from '../../src/declare/pipeline.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { OpenCommit } from '../../src/export/open-commit.ts';
import type { EngineContext } from '../../src/export/run-context.ts';
import { SpanOrder, type SpanTurn } from '../../src/export/span-order.ts';
import type { EntryTerms } from '../../src/export/span-walk.ts';
import { storeSink } from '../../src/export/store-sink.ts';
import type { WalkEvent } from '../../src/export/walk-context.ts';
import { ownLoaders } from '../../src/export/workers/loader-pool.ts';
import type { Stage, Store } from '../../src/warehouse/index.ts';
import type { FolderState } from '../../src/warehouse/staging/row-folder.ts';
import { sharedClock } from '../rate-limit/clock.ts';
import { makeBatchOf } from '../warehouse/batches.ts';
import { itemRows, items, partRows, parts } from '../warehouse/tables.ts';
import { countItems, freshPath, listAll, openTestStore, type StoreKind } from '../warehouse/warehouses.ts';

const MINUTE = 60_000;

const registry = await loadRegistry();

/** A pipeline whose rows are final 50 blocks before the head. */
const pipeline = {
  ...{ name: 'items', version: 1, tables: [items, parts], leftOut: undefined },
  walk: { kind: 'lt', lookBack: 50 },
} as unknown as PipelineDef;

describe.each<StoreKind>(['parquet', 'duckdb'])('parts of a walk into a %s warehouse', (kind) => {
  let path: string;
  let store: Store;
  let clock: ReturnType<typeof sharedClock>;
  let order: SpanOrder;
  let events: WalkEvent[];

  beforeEach(async () => {
    path = freshPath(kind);
    store = await openTestStore(path);
    clock = sharedClock();
    order = new SpanOrder();
    events = [];
  });

  afterEach(() => store.close());

  function open(commitEveryMs = MINUTE): OpenCommit {
    const context: Partial<EngineContext> = {
      ...{ pipeline, network: 'sandbox', commitEveryMs, effects: clock, loaders: ownLoaders(store) },
      ...{ sink: storeSink(store, registry), report: (event) => void events.push(event) },
    };
    return new OpenCommit(context as EngineContext, () => ({ requests: 3, retries: 1 }));
  }

  /** Adds the rows of a span; more than a day of them a day, unless told. */
  async function add(
    commits: OpenCommit,
    span: Span,
    more: Partial<EntryTerms> & { turn?: SpanTurn; perDay?: number } = {},
  ): Promise<void> {
    const { turn = order.next(), perDay, ...terms } = more;
    try {
      await commits.append(turn, { span, ...terms }, (stage) => write(stage, span, perDay));
    } finally {
      turn.end();
    }
  }

  async function write(stage: Stage, { from, to }: Span, perDay?: number): Promise<FolderState> {
    await stage.write(makeBatchOf(items, itemRows(from, to, perDay)), true);
    return stage.write(makeBatchOf(parts, partRows(from, to)), true);
  }

  const entries = () => store.ledger().map(({ span, proof, planned }) => ({ ...span, proof, planned }));
  const spans = () => store.ledger().map(({ span: { from, to } }) => `${from}:${to}`);

  test('that continue each other are one entry, with one file of each table', async () => {
    const commits = open();
    await add(commits, { from: 100, to: 199 }, { planned: 5 });
    await add(commits, { from: 200, to: 299 }, { planned: 2 });
    await add(commits, { from: 300, to: 399 }, { planned: 1 });
    expect(spans()).toEqual([]);
    await commits.close();
    expect(entries()).toEqual([{ from: 100, to: 399, proof: undefined, planned: 8 }]);
    expect(store.ledger()[0]).toMatchObject({ format: 1, requests: 3, retries: 1 });
    expect(events).toEqual([
      { event: 'span', pipeline: 'items', from: 100, to: 399, rows: { items: 300, parts: 600 } },
    ]);
    expect(await countItems(store)).toEqual({ rows: 300, distinct: 300, parts: 600 });
    const files = store.ledger().flatMap(({ tables }) => Object.values(tables).flatMap((table) => table.files));
    expect(files.map(({ path: name, rows }) => [name.replace(/-[0-9a-f]{12}\./, '.'), rows])).toEqual(
      kind === 'duckdb'
        ? []
        : [
            ['tables/items/block_date=2026-05-01/100-399.parquet', 300],
            ['tables/parts/100-399.parquet', 600],
          ],
    );
  });

  test('are commits of their own, in any order, if they need not wait', async () => {
    const commits = open(0);
    const late = order.next();
    await add(commits, { from: 200, to: 299 });
    await add(commits, { from: 100, to: 199 }, { turn: late });
    await commits.close();
    expect(spans()).toEqual(['200:299', '100:199']);
  });

  test('wait for the spans before', async () => {
    const commits = open();
    const [first, second] = [order.next(), order.next()];
    const waiting = add(commits, { from: 200, to: 299 }, { turn: second });
    await add(commits, { from: 100, to: 199 }, { turn: first });
    await waiting;
    await commits.close();
    expect(spans()).toEqual(['100:299']);
  });

  test('overtake a span that takes longer than a commit may wait, and later ones wait for it no more', async () => {
    const commits = open();
    const [slow, second, third] = [order.next(), order.next(), order.next()];
    const waiting = add(commits, { from: 200, to: 299 }, { turn: second });
    await clock.advance(MINUTE);
    await waiting;
    await add(commits, { from: 300, to: 399 }, { turn: third });
    await add(commits, { from: 100, to: 199 }, { turn: slow });
    await commits.close();
    // The first one had waited long enough.
    expect(spans()).toEqual(['200:299', '300:399', '100:199']);
    expect(await countItems(store)).toEqual({ rows: 300, distinct: 300, parts: 600 });
  });

  test('are committed when the first has waited long enough, even if no other follows', async () => {
    const commits = open();
    await add(commits, { from: 100, to: 199 });
    await clock.advance(MINUTE - 1);
    await add(commits, { from: 200, to: 299 });
    expect(spans()).toEqual([]);
    await clock.advance(MINUTE);
    await commits.close();
    expect(spans()).toEqual(['100:299']);
    await add(commits, { from: 300, to: 399 });
    await commits.close();
    expect(spans()).toEqual(['100:299', '300:399']);
  });

  test('are separate entries where blocks between them were left out, or were proven otherwise', async () => {
    const commits = open();
    await add(commits, { from: 100, to: 199 }, { proof: 'none' });
    await add(commits, { from: 201, to: 299 }, { proof: 'none' });
    await add(commits, { from: 300, to: 399 }, { proof: 'transactions' });
    await add(commits, { from: 400, to: 499 }, { proof: 'transactions', asOf: { from: 900, to: 900 } });
    await commits.close();
    expect(spans()).toEqual(['100:199', '201:299', '300:399', '400:499']);
  });

  test('are committed one by one if they will be read again, or replace others', async () => {
    const commits = open();
    await add(commits, { from: 100, to: 199 }, { asOf: { from: 290, to: 290 } });
    await add(commits, { from: 200, to: 239 }, { asOf: { from: 290, to: 290 } });
    await add(commits, { from: 240, to: 244 }, { asOf: { from: 290, to: 290 } });
    await add(commits, { from: 245, to: 249 }, { asOf: { from: 290, to: 290 } });
    await commits.close();
    expect(spans()).toEqual(['100:239', '240:244', '245:249']);
    const [old] = store.ledger();
    await add(commits, { from: 100, to: 239 }, { supersedes: [String(old?.id)] });
    await add(commits, { from: 250, to: 259 });
    await commits.close();
    expect(spans()).toEqual(['240:244', '245:249', '100:239', '250:259']);
    expect(await countItems(store)).toEqual({ rows: 160, distinct: 160, parts: 320 });
  });

  test.each([
    ['a full file', { bytes: 128 * 2 ** 20, isUniform: true, growing: [] }],
    ['rows of a second day, or out of order', { bytes: 1000, isUniform: false, growing: [] }],
  ])('end a commit with %s', async (_, state) => {
    const commits = open();
    await add(commits, { from: 100, to: 199 });
    const turn = order.next();
    await commits.append(turn, { span: { from: 200, to: 299 } }, async (stage) => {
      await write(stage, { from: 200, to: 299 });
      return state;
    });
    turn.end();
    await add(commits, { from: 300, to: 399 });
    await commits.close();
    expect(spans()).toEqual(['100:299', '300:399']);
  });

  test('that cannot be written take the open commit with them, and nothing else', async () => {
    const commits = open();
    await add(commits, { from: 100, to: 149 });
    await add(commits, { from: 160, to: 199 });
    const turn = order.next();
    const full = commits.append(turn, { span: { from: 200, to: 299 } }, async (stage) => {
      await stage.write(makeBatchOf(items, itemRows(200, 249)), true);
      throw new Error('disk full');
    });
    await expect(full).rejects.toThrow('disk full');
    turn.end();
    await add(commits, { from: 300, to: 399 });
    await commits.close();
    expect(spans()).toEqual(['100:149', '300:399']);
    expect(await countItems(store)).toEqual({ rows: 150, distinct: 150, parts: 300 });
    const staged = (await listAll(path.replace(/w(\.duckdb)?$/, ''))).filter((name) => name.includes('rows.parquet'));
    expect(staged).toEqual([]);
  });

  test('end with the error of their commit, and so do those that follow', async () => {
    const commits = open();
    await add(commits, { from: 100, to: 199 }, { supersedes: ['unknown'] });
    await expect(commits.close()).rejects.toThrow('entry unknown cannot be superseded');
    await expect(add(commits, { from: 200, to: 299 })).rejects.toThrow('entry unknown cannot be superseded');
    expect(spans()).toEqual([]);
  });
});

describe('parts of several days', () => {
  test('end a commit; each day has files of its own, and no row is in that of another day', async () => {
    const store = await openTestStore(freshPath('parquet'));
    const order = new SpanOrder();
    const context: Partial<EngineContext> = {
      ...{ pipeline, network: 'sandbox', commitEveryMs: MINUTE, effects: sharedClock(), report: () => undefined },
      ...{ sink: storeSink(store, registry), loaders: ownLoaders(store) },
    };
    const commits = new OpenCommit(context as EngineContext, () => ({ requests: 0, retries: 0 }));
    // Days end at 1,500 and 2,000; those of the second part alternate.
    for (const [from, to] of [
      [1000, 1399],
      [1400, 1599],
      [1600, 1799],
      [1800, 1999],
      [2000, 2099],
      [2100, 2199],
    ] as const) {
      const turn = order.next();
      await commits.append(turn, { span: { from, to } }, (stage) =>
        stage.write(makeBatchOf(items, itemRows(from, to, 500)), true),
      );
      turn.end();
    }
    await commits.close();
    const files = store
      .ledger()
      .map(({ tables }) => tables['items']?.files.map(({ path, rows }) => [path, rows]) ?? []);
    expect(files.map((list) => list.map(([path, rows]) => `${String(path).slice(24, 34)} ${rows}`))).toEqual([
      ['2026-05-03 400', '2026-05-03 100', '2026-05-04 100'],
      ['2026-05-04 400', '2026-05-05 100'],
      ['2026-05-05 100'],
    ]);
    const { rows } = await store.query(
      'SELECT block_date::VARCHAR, count(*)::INTEGER FROM items GROUP BY 1 ORDER BY 1',
    );
    expect(rows).toEqual([
      ['2026-05-03', 500],
      ['2026-05-04', 500],
      ['2026-05-05', 200],
    ]);
    await store.close();
  });
});
