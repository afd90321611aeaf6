import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import blocks from '../../pipelines/blocks.ts';
import transactions from '../../pipelines/transactions.ts';
import { DecodeError } from '../../src/core/errors.ts';
import type { PipelineDef } from '../../src/declare/pipeline.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { Decoder } from '../../src/decode/decoder.ts';
import { Misfit } from '../../src/decode/read-cell.ts';
import { rowsOfPage } from '../../tools/object-decoder.ts';
import { readAnswer } from '../fixtures.ts';
import { comparable } from './comparable.ts';
import { tablesOf } from './reading.ts';

const pages: readonly [string, PipelineDef, Buffer][] = [
  ['blocks', blocks, readAnswer('blocks', 'blocks-1')],
  ['transactions', transactions, readAnswer('transactions', 'transactionsByMessage')],
];

describe.each(pages)('a damaged page of %s', (_, pipeline, whole) => {
  it('that is cut after any byte is no JSON and leaves no rows', () => {
    const decoder = new Decoder(pipeline);
    const end = whole.toString().trimEnd().length;
    const wrong: string[] = [];
    for (let length = 0; length < Buffer.byteLength(whole.toString().slice(0, end)); length++) {
      try {
        decoder.decode(whole.subarray(0, length));
        wrong.push(`${length}: rows`);
      } catch (error) {
        if (!(error instanceof DecodeError) || error.code !== 'not-json') wrong.push(`${length}: ${String(error)}`);
      }
      if (decoder.mark().some((rows) => rows > 0)) wrong.push(`${length}: rows are left`);
    }
    expect(wrong).toEqual([]);
    expect(decoder.decode(whole).refused).toEqual([]);
  });

  it('with changed bytes reads as JSON.parse reads it, or is refused', () => {
    const decoder = new Decoder(pipeline);
    const change = fc.tuple(
      fc.nat(whole.length - 1),
      fc.oneof(fc.nat(255), fc.constantFrom(...Buffer.from('"\\{}[]:,0-e \n'))),
    );
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 2 }), (changes) => {
        const page = Buffer.from(whole);
        for (const [position, byte] of changes) page[position] = byte;
        decoder.clear();
        let refused = -1;
        try {
          const scanned = decoder.decode(page);
          refused = scanned.refused.length;
          if (scanned.unknown.size > 0) return;
        } catch (error) {
          expect(error).toBeInstanceOf(DecodeError);
          expect(decoder.mark().every((rows) => rows === 0)).toBe(true);
        }
        const expected = readSlowly(pipeline, page);
        if (expected !== undefined && refused === 0)
          expect(comparable(tablesOf(decoder))).toEqual(comparable(expected));
        if (expected !== undefined && refused !== 0 && !hasKeyTwice(page))
          expect.fail(`refused: ${JSON.stringify(changes)}`);
      }),
      { numRuns: 3000, seed: 20260501 },
    );
  });
});

function readSlowly(pipeline: PipelineDef, page: Buffer): ReturnType<typeof rowsOfPage> | undefined {
  try {
    return rowsOfPage(pipeline, JSON.parse(page.toString()));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof Misfit || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** A changed byte can make two keys of an object equal, which JSON.parse lets pass. */
function hasKeyTwice(page: Buffer): boolean {
  const keys = page.toString().match(/"[^"]*":/g)?.length ?? 0;
  let parsed = 0;
  JSON.parse(page.toString(), (name, value: unknown) => {
    if (name !== '' && Number.isNaN(Number(name))) parsed++;
    return value;
  });
  return keys !== parsed;
}

const { pipelines } = await loadRegistry();

describe.each(pipelines.map((pipeline) => [pipeline.name, pipeline] as const))('a page of %s', (_, pipeline) => {
  it.each([
    ['nothing', ''],
    ['nothing but blanks', ' \r\n\t'],
    ['a comma between two values', '{},{}'],
    ['two values', '[][]'],
    ['a value and the beginning of another key', '{},"rows":[]'],
    ['a list and another key', '[],"more":{}'],
  ])('of %s is no JSON: it is asked for again', (_what, page) => {
    const decoder = new Decoder(pipeline);
    const decode = () => decoder.decode(Buffer.from(page));
    expect(decode).toThrow(expect.objectContaining({ code: 'not-json', retryable: true }));
    expect(decoder.records).toBe(0);
  });
});
