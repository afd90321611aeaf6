import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashInTypeScript, hashValues, type PlainValues } from '../../src/parquet/value-hashes.ts';

const seed = 20260501;

function plain(values: readonly Uint8Array[]): PlainValues {
  const parts = values.flatMap((value) => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(value.length);
    return [length, value];
  });
  return { values: Buffer.concat(parts), count: values.length, width: 0 };
}

/** The hashes by WebAssembly, and by the reference; what lies behind them must stay. */
function both(values: PlainValues): readonly (readonly number[])[] {
  return [hashValues, hashInTypeScript].map((hash) => {
    const into = new Int32Array(values.count * 2 + 2).fill(7);
    hash(values, into);
    return [...into];
  });
}

test('WebAssembly hashes values of any length as TypeScript does', () => {
  const lengths = Array.from({ length: 100 }, (_, length) => Buffer.alloc(length, length * 37 + 1));
  const [known, expected] = both(plain(lengths));
  expect(known).toEqual(expected);
  expect(known?.slice(-2)).toEqual([7, 7]);
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 70 }), { maxLength: 30 }), (values) => {
      const [found, reference] = both(plain(values));
      expect(found).toEqual(reference);
    }),
    { seed },
  );
});

test('and numbers of each width, from a page that is not aligned', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 49, maxLength: 80 }), fc.constantFrom(4, 8, 16), (bytes, width) => {
      const [found, reference] = both({ values: bytes.subarray(1), count: Math.floor(48 / width), width });
      expect(found).toEqual(reference);
    }),
    { seed },
  );
});

test('and pages larger than all before', () => {
  for (const size of [70_000, 10, 300_000]) {
    const values = Buffer.from(Uint8Array.from({ length: size }, (_, at) => (at * 31) ^ (at >> 9)));
    const [found, reference] = both({ values, count: size >> 3, width: 8 });
    expect(found).toEqual(reference);
  }
});
