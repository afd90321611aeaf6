import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Span, subtractSpans, totalSize, unionSpans } from '../../src/core/span.ts';
import { mapCells } from '../../src/ui/coverage-map.ts';
import type { PipelineStatus } from '../../src/warehouse/query/status.ts';
import { moved, zoomed } from '../../ui/coverage-view.ts';
import { contentHeight, ROW_HEIGHT, rowAt, scrollTopOf } from '../../ui/grid-layout.ts';

const status = (more: Partial<Pick<PipelineStatus, 'proven' | 'unproven' | 'missing'>>) =>
  ({ proven: [], unproven: [], missing: [], ...more }) as unknown as PipelineStatus;

const states = (view: Span, count: number, of: PipelineStatus): string =>
  mapCells(view, count, of)
    .map(({ state }) => state)
    .join(' ');

describe('cells of the coverage map', () => {
  test('say what their blocks are, the worst first', () => {
    const of = status({
      proven: [{ from: 10, to: 29 }],
      unproven: [{ why: 'not final', spans: [{ from: 30, to: 39 }] }],
      missing: [
        { why: 'not exported', spans: [{ from: 40, to: 44 }] },
        { why: 'quarantined', spans: [{ from: 45, to: 46 }] },
        { why: 'forgotten', spans: [{ from: 50, to: 59 }] },
      ],
    });
    expect(states({ from: 0, to: 69 }, 7, of)).toBe('outside proven proven unproven quarantined forgotten outside');
    expect(states({ from: 35, to: 44 }, 1, of)).toBe('part');
    expect(states({ from: 40, to: 44 }, 5, of)).toBe('missing missing missing missing missing');
  });

  test('a single missing block is never hidden among thousands', () => {
    const of = status({
      proven: [
        { from: 0, to: 49_999 },
        { from: 50_001, to: 99_999 },
      ],
      missing: [{ why: 'not exported', spans: [{ from: 50_000, to: 50_000 }] }],
    });
    expect(states({ from: 0, to: 99_999 }, 3, of)).toBe('proven part proven');
  });

  const span = fc
    .tuple(fc.integer({ min: 0, max: 500 }), fc.integer({ min: 0, max: 80 }))
    .map(([from, size]): Span => ({ from, to: from + size }));

  test('cover the view once, and count what is there', () => {
    fc.assert(
      fc.property(span, fc.integer({ min: 1, max: 100 }), fc.array(span, { maxLength: 6 }), (view, count, spans) => {
        const proven = unionSpans(spans);
        const cells = mapCells(view, count, status({ proven }));
        expect(subtractSpans([view], cells)).toEqual([]);
        expect(totalSize(cells)).toBe(totalSize([view]));
        const missing = totalSize(subtractSpans([view], proven));
        expect(cells.reduce((sum, cell) => sum + cell.blocks, 0)).toBe(totalSize([view]) - missing);
        expect(cells.every(({ state }) => state === 'proven')).toBe(missing === 0);
      }),
    );
  });
});

describe('the view of the map', () => {
  const whole = { from: 1000, to: 1999 };

  test('zooms around a point, and stays within the whole', () => {
    expect(zoomed(whole, 0.5, 0, whole)).toEqual({ from: 1000, to: 1499 });
    expect(zoomed(whole, 0.5, 1, whole)).toEqual({ from: 1500, to: 1999 });
    expect(zoomed({ from: 1500, to: 1999 }, 4, 0.5, whole)).toEqual(whole);
    expect(zoomed({ from: 1500, to: 1509 }, 0.1, 0.5, whole)).toEqual({ from: 1500, to: 1509 });
  });

  test('moves by a share of its width', () => {
    expect(moved({ from: 1000, to: 1099 }, 0.5, whole)).toEqual({ from: 1050, to: 1149 });
    expect(moved({ from: 1000, to: 1099 }, -1, whole)).toEqual({ from: 1000, to: 1099 });
    expect(moved({ from: 1900, to: 1999 }, 3, whole)).toEqual({ from: 1900, to: 1999 });
  });
});

test.each([10, 1000, 1_000_000])('a grid of %i rows reaches its first and its last row', (count) => {
  const view = 500;
  const bottom = Math.max(0, contentHeight(count) - view);
  expect(rowAt(0, view, count)).toBe(0);
  expect(rowAt(bottom, view, count) + view / ROW_HEIGHT).toBeGreaterThanOrEqual(Math.min(count, count - 0.01));
  for (const row of [0, count >> 1, count - 1]) {
    const top = Math.min(scrollTopOf(row, view, count), bottom);
    expect(rowAt(top, view, count)).toBeLessThanOrEqual(row + 0.001);
  }
});
