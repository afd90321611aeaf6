import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import transactions from '../../pipelines/transactions.ts';
import type { PipelineDef } from '../../src/declare/pipeline.ts';
import { copyBits, countOnes } from '../../src/decode/bits.ts';
import { ChosenRows } from '../../src/decode/chosen-rows.ts';
import { Decoder } from '../../src/decode/decoder.ts';
import { pageTexts } from './arbitrary.ts';
import { rowsOf, tablesOf } from './reading.ts';
import { things } from './things.ts';

const seed = 20260501;
const PAGES = 12;

/** Runs of neighbouring rows, given as start and length; `single` rows instead where runs would be short. */
const runs = fc.array(fc.tuple(fc.nat({ max: 90 }), fc.nat({ max: 40 })), { maxLength: 6 });
const single = fc.array(fc.nat({ max: 90 }), { maxLength: 60 });

function within(count: number, rows: readonly number[]): Int32Array {
  return Int32Array.from(rows.filter((row) => row < count));
}

describe.each([things, transactions])('records of $name', (pipeline: PipelineDef) => {
  const [root] = pipeline.tables;

  it('are chosen with the values they have, in runs, one by one, repeated, and past the last value of a column', () => {
    const decoder = new Decoder(pipeline);
    const pages = fc.array(pageTexts(pipeline, 12), { minLength: PAGES, maxLength: PAGES });
    fc.assert(
      fc.property(pages, runs, single, (texts, several, alone) => {
        decoder.clear();
        for (const text of texts) decoder.decode(Buffer.from(text));
        const all = tablesOf(decoder)[root?.name ?? ''] ?? [];
        const neighbours = several.flatMap(([from, length]) => Array.from({ length }, (_, at) => from + at));
        for (const rows of [within(all.length, neighbours), within(all.length, alone)]) {
          const batch = decoder.choose(rows).find(({ table }) => table === root);
          expect(batch === undefined ? [] : rowsOf(batch)).toEqual([...rows].map((row) => all[row]));
        }
      }),
      { numRuns: 10, seed },
    );
  });
});

it('long runs are found, short ones are not worth it', () => {
  const of = (rows: number[]) => {
    const { runs: found, greatest } = new ChosenRows(Int32Array.from(rows));
    return { runs: found && [...found], greatest };
  };
  expect(of([])).toEqual({ runs: [0], greatest: -1 });
  expect(of([5])).toEqual({ runs: [0, 1], greatest: 5 });
  expect(of([3, 4, 5, 6, 0, 1, 2, 7])).toEqual({ runs: undefined, greatest: 7 });
  expect(of([9, 10, 11, 12, 13, 14, 15, 16, 0, 1, 2, 3, 4, 5, 6, 7])).toEqual({ runs: [0, 8, 16], greatest: 16 });
  expect(of([2, 2, 2])).toEqual({ runs: undefined, greatest: 2 });
});

it('bits are copied to any place, and others stay', () => {
  const place = fc.nat({ max: 40 });
  const bits = fc.uint8Array({ minLength: 16, maxLength: 16 });
  fc.assert(
    fc.property(bits, bits, place, place, place, (source, target, from, to, count) => {
      const bitAt = (bytes: Uint8Array, at: number) => ((bytes[at >> 3] as number) >> (at & 7)) & 1;
      const expected = Array.from({ length: 128 }, (_, at) =>
        at >= to && at < to + count ? bitAt(source, from + at - to) : bitAt(target, at),
      );
      copyBits(source, from, target, to, count);
      expect(Array.from({ length: 128 }, (_, at) => bitAt(target, at))).toEqual(expected);
      expect(countOnes(target, 0, 16)).toBe(expected.filter((bit) => bit === 1).length);
    }),
    { seed },
  );
});
