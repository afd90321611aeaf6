import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DaySpan, isFullDay, readDaySpans } from '../../src/chain/day-spans.ts';
import type { Span } from '../../src/core/span.ts';
import { loadRegistry, type Registry } from '../../src/declare/registry.ts';
import { coveredIn } from '../../src/marts/mart-inputs.ts';
import { slicesBefore } from '../../src/marts/mart-slices.ts';
import { Database } from '../../src/sql/database.ts';
import type { Query } from '../../src/sql/query-result.ts';
import { readHeaderDays } from '../../src/warehouse/query/header-days.ts';
import type { LedgerEntry } from '../../src/warehouse/store.ts';

const database = await Database.open();
afterAll(() => database.close());

/** Seconds from midnight of 2026-05-02 of masterchain blocks, by seqno; each includes a shard block of the second before. */
async function daysOf(blocks: readonly (readonly [seqno: number, second: number])[]) {
  const start = Date.UTC(2026, 4, 2) / 1000;
  const rows = blocks.flatMap(([seqno, second]) => [
    `(-1, ${seqno}, ${seqno}, ${start + second})`,
    `(0, ${seqno}, ${seqno}, ${start + second - 1})`,
  ]);
  await database.run(
    `CREATE OR REPLACE TABLE _headers AS SELECT *, make_timestamp(gen_utime::BIGINT * 1000000)::DATE AS block_date
     FROM (VALUES ${rows.join(', ')}) AS b(workchain, seqno, mc_block_seqno, gen_utime)`,
  );
  return Object.fromEntries(await readDaySpans(database.query));
}

const DAY = 86_400;
const isPartial = (day: DaySpan): boolean => !isFullDay(day);

describe('a day', () => {
  test('is whole between blocks of the day before and of the day after; late shard blocks belong to its span', async () => {
    expect(
      await daysOf([
        [9, -3],
        [10, 0],
        [11, 50_000],
        [12, DAY - 2],
        [13, DAY],
      ]),
    ).toEqual({
      '2026-05-01': { from: 9, to: 10, hasStart: false, hasEnd: true },
      '2026-05-02': { from: 10, to: 13, hasStart: true, hasEnd: true },
      '2026-05-03': { from: 13, to: 13, hasStart: true, hasEnd: false },
    });
  });

  test('is whole from the first block of the chain on', async () => {
    expect(
      (
        await daysOf([
          [1, 40_000],
          [2, 40_003],
          [3, DAY + 1],
        ])
      )['2026-05-02'],
    ).toSatisfy(isFullDay);
  });

  test('is whole when its first block stands no further from midnight than blocks stand from each other', async () => {
    expect(
      (
        await daysOf([
          [10, 4],
          [11, 9],
          [12, DAY],
        ])
      )['2026-05-02'],
    ).toSatisfy(isFullDay);
    expect(
      (
        await daysOf([
          [10, 600],
          [11, 605],
          [12, DAY],
        ])
      )['2026-05-02'],
    ).toSatisfy(isPartial);
  });

  test('is not whole where its first blocks are missing, however long blocks are missing before them or later', async () => {
    const late = [
      [10, 40_000],
      [11, 40_005],
    ] as const;
    expect((await daysOf([[2, -300_000], ...late, [12, DAY]]))['2026-05-02']).toSatisfy(isPartial);
    expect((await daysOf([...late, [99, DAY - 5], [100, DAY]]))['2026-05-02']).toSatisfy(isPartial);
  });

  test('is not whole without a block of the next day, or with a hole at midnight', async () => {
    expect(
      (
        await daysOf([
          [9, -3],
          [10, 0],
          [11, DAY - 2],
        ])
      )['2026-05-02'],
    ).toSatisfy(isPartial);
    expect(
      (
        await daysOf([
          [9, -3],
          [10, 0],
          [11, DAY - 9],
          [14, DAY + 9],
        ])
      )['2026-05-02'],
    ).toSatisfy(isPartial);
  });
});

/** One row of a header: masterchain block that includes it, and second from midnight of 2026-05-02. */
type Row = readonly [seqno: number, second: number];

const dateOf = (second: number): string => new Date(Date.UTC(2026, 4, 2) + 1000 * second).toISOString().slice(0, 10);

/** An entry of headers whose files tell their bounds. */
function headersEntry(rows: readonly Row[]): LedgerEntry {
  const files = [...new Set(rows.map(([, second]) => dateOf(second)))].map((date) => {
    const own = rows.filter(([, second]) => dateOf(second) === date).map(([seqno]) => seqno);
    const bounds = { mc_block_seqno: [String(Math.min(...own)), String(Math.max(...own)), 0] as const };
    return { path: `tables/blocks/block_date=${date}/x.parquet`, rows: own.length, bytes: 1, bounds, sha256: '' };
  });
  const span = { from: rows[0]?.[0] ?? 0, to: rows.at(-1)?.[0] ?? 0 };
  return {
    ...{ format: 1, number: 1, id: `blocks-${span.from}`, network: 'sandbox', pipeline: 'blocks', version: 1, span },
    ...{ verdict: 'accepted', requests: 0, retries: 0, supersedes: [], committedAt: '' },
    tables: { blocks: { rows: rows.length, keyHash: '0', sums: {}, schema: 'x', files } },
  };
}

/** Masterchain blocks, as steps of seqno and seconds, and where entries begin. */
const chains = fc.array(
  fc.record({
    step: fc.constantFrom(1, 1, 1, 1, 3),
    seconds: fc.constantFrom(3, 5, 20_000, DAY / 2, DAY),
    isFirst: fc.boolean(),
  }),
  { minLength: 1, maxLength: 14 },
);

function entriesOf(chain: readonly { step: number; seconds: number; isFirst: boolean }[], startsAt: Row) {
  const blocks: Row[] = [];
  const entries: Row[][] = [];
  let [seqno, second] = startsAt;
  for (const { step, seconds, isFirst } of chain) {
    seqno += step;
    second += seconds;
    blocks.push([seqno, second]);
    if (isFirst || step > 1 || entries.length === 0) entries.push([]);
    // As `daysOf` has them: a block of the masterchain, and a shard block of the second before.
    entries.at(-1)?.push([seqno, second], [seqno, second - 1]);
  }
  return { blocks, ledger: entries.map(headersEntry) };
}

describe('the days of headers by the bounds of their files', () => {
  let registry: Registry;
  beforeAll(async () => {
    registry = await loadRegistry();
  });

  test('are those of their rows', async () => {
    await fc.assert(
      fc.asyncProperty(chains, fc.constantFrom(0, 8), fc.constantFrom(-7, -DAY), async (chain, seqno, second) => {
        const { blocks, ledger } = entriesOf(chain, [seqno, second]);
        const byRows = await daysOf(blocks);
        expect(Object.fromEntries(await readHeaderDays(database.query, ledger, registry))).toEqual(byRows);
      }),
      { numRuns: 150 },
    );
  });

  test('need no rows but for a day that ends and does not begin in the warehouse', async () => {
    const statements: string[] = [];
    const query: Query = (sql) => {
      statements.push(sql);
      return database.query(sql);
    };
    const { blocks, ledger } = entriesOf(
      [0, 1, 2, 3, 4].map(() => ({ step: 1, seconds: DAY / 2, isFirst: true })),
      [8, -10],
    );
    await daysOf(blocks);
    const days = await readHeaderDays(query, ledger, registry);
    expect([...days.values()].map(isFullDay)).toEqual([true, true, false]);
    expect(statements).toHaveLength(1);
    expect(statements[0]).toContain("DATE '2026-05-02'");
    statements.length = 0;
    const apart = ledger.filter((_, at) => at % 2 === 0);
    await readHeaderDays(query, apart, registry);
    expect(statements).toEqual([]);
  });
});

describe('rows of a mart are', () => {
  let registry: Registry;
  beforeAll(async () => {
    registry = await loadRegistry();
  });
  const entry = (pipeline: string, from: number, to: number, more: Partial<LedgerEntry> = {}): LedgerEntry => ({
    ...{
      format: 1,
      number: 1,
      id: `${pipeline}-${from}`,
      network: 'sandbox',
      pipeline,
      version: 1,
      span: { from, to },
    },
    ...{ verdict: 'accepted', tables: {}, requests: 0, retries: 0, supersedes: [], committedAt: '', ...more },
  });
  const coveredOf = (ledger: readonly LedgerEntry[], names: readonly string[], span: Span | undefined) => {
    const pipelines = registry.pipelines.filter(({ name }) => names.includes(name));
    return coveredIn({ registry, ledger, forgotten: [] }, pipelines, span === undefined ? [] : [span])(span);
  };
  const DAY = { from: 5, to: 15 };

  test('proven where every pipeline behind them is', () => {
    const ledger = [entry('blocks', 1, 20), entry('transactions', 1, 9), entry('transactions', 10, 20)];
    expect(coveredOf(ledger, ['blocks', 'transactions'], DAY)).toBe('proven');
    expect(coveredOf(ledger, ['blocks', 'transactions'], undefined)).toBe('proven');
  });

  test('unproven where nothing was compared with a list, or if it has no blocks at all', () => {
    const ledger = [
      entry('blocks', 1, 20),
      entry('transactions', 1, 20),
      entry('jetton_burns', 1, 9, { proof: 'none' }),
    ];
    const rest = entry('jetton_burns', 10, 20, { proof: 'transactions' });
    expect(coveredOf([...ledger, rest], ['transactions', 'jetton_burns'], DAY)).toBe('unproven');
    expect(coveredOf([...ledger, rest], ['transactions', 'jetton_burns'], { from: 10, to: 15 })).toBe('proven');
    expect(coveredOf([...ledger, entry('jetton_masters', 0, 0)], ['jetton_masters'], undefined)).toBe('unproven');
  });

  test('missing where one lacks a block, or has a record in quarantine', () => {
    const lacking = [entry('blocks', 1, 20), entry('transactions', 1, 9), entry('transactions', 11, 20)];
    expect(coveredOf(lacking, ['blocks', 'transactions'], DAY)).toBe('missing');
    const bad = [
      entry('transactions', 1, 9),
      entry('transactions', 10, 10, { verdict: 'quarantined' }),
      entry('transactions', 11, 20),
    ];
    expect(coveredOf(bad, ['transactions'], DAY)).toBe('missing');
    expect(coveredOf(bad, ['transactions'], undefined)).toBe('missing');
    expect(coveredOf([], ['transactions'], undefined)).toBe('missing');
  });
});

describe('the days before one that a mart reads, too', () => {
  const days = new Map<string, DaySpan>();
  const slices = Array.from({ length: 400 }, (_, at) => {
    const date = new Date(Date.UTC(2026, 0, 1 + at)).toISOString().slice(0, 10);
    // Day 10 has rows, and no headers.
    if (at !== 10) days.set(date, { from: 1 + at * 100, to: 100 + at * 100, hasStart: true, hasEnd: true });
    return { date, parts: new Map(), days: [date] };
  });
  const datesBefore = (at: number, from: number) =>
    slicesBefore(slices, at, { from, to: 100 + at * 100 }, days).map(({ date }) => date);

  test('are those with blocks within its reach, oldest first', () => {
    expect(datesBefore(5, 501)).toEqual([]);
    expect(datesBefore(5, 500)).toEqual(['2026-01-05']);
    expect(datesBefore(5, 300)).toEqual(['2026-01-03', '2026-01-04', '2026-01-05']);
    expect(datesBefore(12, 850)).toEqual(['2026-01-09', '2026-01-10', '2026-01-12']);
    expect(slicesBefore(slices, 5, undefined, days)).toEqual([]);
  });

  test('are found without a look at all others', () => {
    let looks = 0;
    class Counting extends Map<string, DaySpan> {
      override get(date: string): DaySpan | undefined {
        looks++;
        return super.get(date);
      }
    }
    const counting = new Counting(days);
    for (const [at] of slices.entries())
      slicesBefore(slices, at, { from: 1 + at * 100 - 20, to: 100 + at * 100 }, counting);
    expect(looks).toBeLessThan(3 * slices.length);
  });
});
