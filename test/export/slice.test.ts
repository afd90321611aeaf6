import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseRange, resolveRange } from '../../src/chain/range.ts';
import { cutSlice, parseSlice } from '../../src/chain/slice.ts';
import { formatError } from '../../src/core/errors.ts';
import { formatSpans, type Span, spanSize, totalSize, unionSpans } from '../../src/core/span.ts';
import { resolveRequested } from '../../src/export/requested-blocks.ts';

const DAY_MS = 86_400_000;
const BEGIN = Date.UTC(2026, 4, 1);

/** A chain with so many blocks on each day, the first of them 1. */
function chainOf(...blocksPerDay: readonly number[]) {
  const firsts: number[] = [];
  let next = 1;
  for (const blocks of blocksPerDay) {
    firsts.push(next);
    next += blocks;
  }
  const dayOf = (seqno: number): number => firsts.findLastIndex((first) => first <= seqno);
  return {
    firsts,
    head: async () => next - 1,
    firstOfDay: async (date: string) => {
      const first = firsts[(Date.parse(date) - BEGIN) / DAY_MS];
      if (first === undefined) throw new Error(`the chain has no ${date}`);
      return first;
    },
    lastOfDay: async (date: string) => (firsts[(Date.parse(date) - BEGIN) / DAY_MS + 1] ?? next) - 1,
    firstSince: async () => 1,
    lastBefore: async () => next - 1,
    blockTime: async (seqno: number) => BEGIN + dayOf(seqno) * DAY_MS + 1000,
    today: async () => '2026-05-04',
    openDays: [] as readonly string[],
  };
}

type Chain = ReturnType<typeof chainOf>;

async function cutAll(asked: readonly Span[], count: number, chain: Chain): Promise<readonly (readonly Span[])[]> {
  const indexes = Array.from({ length: count }, (_, at) => at + 1);
  return Promise.all(indexes.map((index) => cutSlice(asked, { index, count }, chain)));
}

async function textOf(range: string, count: number, chain: Chain): Promise<readonly string[]> {
  const slices = await cutAll(await resolveRange(parseRange(range), chain), count, chain);
  return slices.map((spans) => formatSpans(spans));
}

describe('slices of a range', () => {
  test('begin with a day where one is near', async () => {
    const chain = chainOf(100, 110, 95, 100);
    expect(await textOf('1:405', 4, chain)).toEqual(['1:100', '101:210', '211:305', '306:405']);
    expect(await textOf('1:405', 2, chain)).toEqual(['1:210', '211:405']);
    expect(await textOf('2026-05-01:2026-05-04', 3, chain)).toEqual(['1:100', '101:305', '306:405']);
  });

  test('cut a day by blocks where there are more slices than days', async () => {
    expect(await textOf('1:100', 4, chainOf(100))).toEqual(['1:25', '26:50', '51:75', '76:100']);
    expect(await textOf('1:200', 5, chainOf(90, 110))).toEqual(['1:40', '41:90', '91:120', '121:160', '161:200']);
  });

  test('leave gaps of the range out', async () => {
    expect(await textOf('1:10,21:30,41:60', 4, chainOf(100))).toEqual(['1:10', '21:30', '41:50', '51:60']);
  });

  test('are disjoint, in order, never empty, and make up the range', async () => {
    const span = fc.record({ from: fc.integer({ min: 1, max: 900 }), size: fc.integer({ min: 1, max: 400 }) });
    const days = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(span, { minLength: 1, maxLength: 4 }),
        days,
        fc.integer({ min: 1, max: 40 }),
        async (given, lengths, count) => {
          // Beyond the given days the chain has one long one.
          const chain = chainOf(...lengths, 2000);
          const asked = unionSpans(given.map(({ from, size }) => ({ from, to: from + size - 1 })));
          fc.pre(totalSize(asked) >= count);
          const slices = await cutAll(asked, count, chain);
          const all = slices.flat();
          expect(slices.every((spans) => totalSize(spans) > 0)).toBe(true);
          expect(all.every((one, at) => at === 0 || (all[at - 1]?.to ?? 0) < one.from)).toBe(true);
          expect(all.reduce((sum, one) => sum + spanSize(one), 0)).toBe(totalSize(asked));
          expect(unionSpans(all)).toEqual(asked);
        },
      ),
    );
  });

  test('ask for the days at their own ends only', async () => {
    const asked: string[] = [];
    const chain = chainOf(...Array.from({ length: 300 }, () => 100));
    const counting = {
      ...chain,
      firstOfDay: async (date: string) => {
        asked.push(date);
        return chain.firstOfDay(date);
      },
    };
    const [spans] = [await cutSlice([{ from: 1, to: 30_000 }], { index: 7, count: 16 }, counting)];
    expect(formatSpans(spans)).toBe('11201:13100');
    expect(asked).toHaveLength(4);
  });
});

describe('a slice is refused', () => {
  const failure = async (range: string, slice: string, openDays: readonly string[] = []): Promise<string> =>
    resolveRequested({ range, slice }, { ...chainOf(100, 100, 100, 50), openDays }).then(
      (spans) => expect.fail(`got ${formatSpans(spans)}`),
      (error: unknown) => formatError(error),
    );

  test.each([
    ['-100:', '251:350'],
    ['200:', '200:350'],
    ['yesterday', '201:300'],
    ['2026-05-02:today', '101:350'],
    ['1:10,-7:', '1:10,344:350'],
    ['2026-05-02:', '101:350'],
    [':+100', '351:450'],
  ])('of %s, which differs between machines that start apart', async (range, now) => {
    const moving = range.split(',').at(-1);
    expect(await failure(range, '1/2')).toBe(
      `usage: expected a range with fixed ends for slices, got ${moving}; hint: give all slices the same blocks, such as --range ${now}`,
    );
  });

  test('of a day that is not over', async () => {
    expect(await failure('2026-05-01:2026-05-04', '1/2', ['2026-05-04'])).toMatch(
      /got 2026-05-04, which is not over; hint/,
    );
  });

  test('if it has no blocks', async () => {
    expect(await failure('1:3', '1/4')).toMatch(/expected at least 4 blocks for 4 slices, got 3/);
  });

  test.each(['0/4', '5/4', '1', '1/', 'a/b', '-1/4', '1/4/2', '1.5/4', ''])('as %j', (text) => {
    expect(() => parseSlice(text)).toThrow(/^usage: expected a slice such as 3\/16/);
  });
});
