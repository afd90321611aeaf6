import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import transactions from '../../pipelines/transactions.ts';
import type { PipelineDef } from '../../src/declare/pipeline.ts';
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
