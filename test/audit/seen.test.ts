import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SeenValues } from '../../src/audit/seen-values.ts';
import { Decoder } from '../../src/decode/decoder.ts';
import type { BytesColumn } from '../../src/decode/typed-columns.ts';
import { things } from '../decode/things.ts';

function columnOf(values: readonly string[]): BytesColumn {
  const decoder = new Decoder(things);
  decoder.decode(Buffer.from(JSON.stringify({ things: values.map((text) => ({ text })) })));
  return decoder.column('text') as BytesColumn;
}

/** The row of the same value before each, as a map tells it. */
function expected(values: readonly string[]): readonly (number | undefined)[] {
  const rows = new Map<string, number>();
  return values.map((value, row) => {
    const before = rows.get(value);
    rows.set(value, row);
    return before;
  });
}

test('tells for every row the last one before with the same value, of any length', () => {
  const few = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'ä'), maxLength: 9 }), { maxLength: 300 });
  fc.assert(
    fc.property(few, few, (first, second) => {
      const values = [...first, ...second];
      const seen = new SeenValues(columnOf(values));
      // The second time, nothing of the first is remembered.
      for (let turn = 0; turn < 2; turn++) {
        seen.clear(values.length);
        expect(values.map((_, row) => seen.add(row))).toEqual(expected(values));
      }
    }),
  );
});

test('grows with the rows, and finds the one that is there twice among many', () => {
  const values = Array.from({ length: 20_000 }, (_, at) => `value number ${at}`);
  values.push('value number 7');
  const seen = new SeenValues(columnOf(values));
  seen.clear(values.length);
  const found = values.flatMap((_, row) => seen.add(row) ?? []);
  expect(found).toEqual([7]);
});
