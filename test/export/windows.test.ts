import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Header } from '../../src/chain/headers.ts';
import { halve, planEvenWindows, planLtWindows, planSpans } from '../../src/export/lt-windows.ts';

const header = fc
  .record({
    start: fc.integer({ min: 0, max: 5000 }),
    length: fc.integer({ min: 0, max: 400 }),
    txCount: fc.integer({ min: 0, max: 300 }),
  })
  .map(
    ({ start, length, txCount }): Header => ({
      ...{ workchain: 0, shard: '0', seqno: 1, mcSeqno: 1, prev: [], txCount },
      ...{ startLt: BigInt(start), endLt: BigInt(start + length) },
    }),
  );

describe('windows of logical time', () => {
  test('are disjoint, in order, and cover every block', () => {
    fc.assert(
      fc.property(
        fc.array(header, { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 5, max: 500 }),
        (headers, target) => {
          const windows = planLtWindows(headers, [], target);
          for (const [i, { from, to }] of windows.entries()) {
            expect(from <= to).toBe(true);
            if (i > 0) expect(from).toBe((windows[i - 1]?.to ?? 0n) + 1n);
          }
          for (const { startLt, endLt } of headers) {
            expect(windows[0]?.from ?? 0n).toBeLessThanOrEqual(startLt);
            expect(windows.at(-1)?.to ?? 0n).toBeGreaterThanOrEqual(endLt);
          }
        },
      ),
    );
  });

  test('of evenly spread blocks are nearly full and never planned beyond the target', () => {
    const headers = Array.from(
      { length: 100 },
      (_, i): Header => ({
        ...{ workchain: 0, shard: '0', seqno: i, mcSeqno: i, prev: [], txCount: 50 },
        ...{ startLt: BigInt(i * 1000), endLt: BigInt(i * 1000 + 999) },
      }),
    );
    const windows = planLtWindows(headers, [], 500);
    expect(windows.map(({ from }) => Math.round(Number(from) / 10_000))).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

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
