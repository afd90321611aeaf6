import { describe, expect, test } from 'vitest';
import { halve, planEvenWindows, planSpans } from '../../src/export/lt-windows.ts';

describe('windows of logical time', () => {
  test('halves meet without overlap, and a single logical time has none', () => {
    expect(halve({ from: 10n, to: 13n })).toEqual([
      { from: 10n, to: 11n },
      { from: 12n, to: 13n },
    ]);
    expect(halve({ from: 10n, to: 10n })).toBeUndefined();
  });

  test('even windows cover their range', () => {
    const windows = planEvenWindows({ from: 0n, to: 999n }, 2500, 1000);
    expect(windows.map(({ from, to }) => [from, to])).toEqual([
      [0n, 332n],
      [333n, 665n],
      [666n, 999n],
    ]);
  });
});

describe('spans', () => {
  test('close before they exceed their records', () => {
    expect(planSpans([{ from: 1, to: 6 }], () => 400, { records: 1000, seqnos: 100 })).toEqual([
      { from: 1, to: 2 },
      { from: 3, to: 4 },
      { from: 5, to: 6 },
    ]);
  });

  test('a block larger than the limit is a span of its own', () => {
    const records = (seqno: number): number => (seqno === 2 ? 5000 : 10);
    expect(planSpans([{ from: 1, to: 3 }], records, { records: 1000, seqnos: 100 })).toEqual([
      { from: 1, to: 1 },
      { from: 2, to: 2 },
      { from: 3, to: 3 },
    ]);
  });
});
