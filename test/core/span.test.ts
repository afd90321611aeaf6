import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  blockAt,
  firstBlocks,
  formatSpans,
  intersectSpans,
  type Span,
  shortSpans,
  spanSize,
  subtractSpans,
  totalSize,
  unionSpans,
} from '../../src/core/span.ts';

const span = fc
  .tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 12 }))
  .map(([from, size]) => ({ from, to: from + size }));
const spans = fc.array(span, { maxLength: 8 });

function members(list: readonly Span[]): ReadonlySet<number> {
  return new Set(list.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, i) => from + i)));
}

function isCanonical(list: readonly Span[]): boolean {
  return list.every(({ from, to }, i) => from <= to && (i === 0 || from > (list[i - 1]?.to ?? 0) + 1));
}

describe('spans', () => {
  test('both ends belong to a span', () => {
    expect(spanSize({ from: 5, to: 5 })).toBe(1);
    expect(
      totalSize([
        { from: 1, to: 3 },
        { from: 7, to: 7 },
      ]),
    ).toBe(4);
  });

  test('neighbours are joined', () => {
    expect(
      unionSpans([
        { from: 4, to: 6 },
        { from: 1, to: 3 },
      ]),
    ).toEqual([{ from: 1, to: 6 }]);
  });

  test('asking again leaves only the gap', () => {
    expect(subtractSpans([{ from: 1000, to: 1999 }], [{ from: 1000, to: 1499 }])).toEqual([{ from: 1500, to: 1999 }]);
  });

  test('a hole in what is done splits what is missing', () => {
    const done = [
      { from: 10, to: 19 },
      { from: 30, to: 39 },
    ];
    expect(formatSpans(subtractSpans([{ from: 0, to: 40 }], done))).toBe('0:9,20:29,40');
  });

  test('the first blocks of spans, and the block at a position', () => {
    const some = [
      { from: 5, to: 6 },
      { from: 10, to: 12 },
    ];
    expect([0, 1, 2, 4, 9].map((count) => formatSpans(firstBlocks(some, count)))).toEqual([
      ...['nothing', '5', '5:6', '5:6,10:11', '5:6,10:12'],
    ]);
    expect([0, 1, 2, 3, 4].map((position) => blockAt(some, position))).toEqual([5, 6, 10, 11, 12]);
    expect(() => blockAt(some, 5)).toThrow('expected a position in 5 blocks, got 5');
  });

  test('a long list names its first spans and counts the others and their blocks', () => {
    const some = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ from: 10 * at, to: 10 * at + (at % 2) }));
    expect(shortSpans([])).toBe('nothing');
    expect(shortSpans(some(10))).toBe(formatSpans(some(10)));
    expect(shortSpans(some(11))).toBe('0,10:11,20,30:31,40,50:51,60,70:71 ... and 3 more spans, 4 blocks');
    expect(shortSpans(some(4008))).toBe('0,10:11,20,30:31,40,50:51,60,70:71 ... and 4,000 more spans, 6,000 blocks');
  });

  test('a union covers what its parts cover, sorted and disjoint', () => {
    fc.assert(
      fc.property(spans, (list) => {
        const joined = unionSpans(list);
        expect(isCanonical(joined)).toBe(true);
        expect(members(joined)).toEqual(members(list));
      }),
    );
  });

  test('missing and done together are what was asked, and share nothing', () => {
    fc.assert(
      fc.property(spans, spans, (asked, done) => {
        const missing = subtractSpans(asked, done);
        const common = intersectSpans(asked, done);
        expect(isCanonical(missing)).toBe(true);
        expect(intersectSpans(missing, done)).toEqual([]);
        expect(members([...missing, ...common])).toEqual(members(asked));
      }),
    );
  });
});
