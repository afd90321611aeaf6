import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashValues, type PlainValues } from '../../src/parquet/value-hashes.ts';
import { specified } from './specified-xxhash64.ts';

const seed = 20260501;

function plain(values: readonly Uint8Array[]): PlainValues {
  const parts = values.flatMap((value) => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(value.length);
    return [length, value];
  });
  return { values: Buffer.concat(parts), count: values.length, width: 0 };
}

/** Each value of a page. */
function valuesOf({ values, count, width }: PlainValues): readonly Buffer[] {
  const bytes = Buffer.from(values);
  let at = 0;
  return Array.from({ length: count }, () => {
    const from = width === 0 ? at + 4 : at;
    at = from + (width === 0 ? bytes.readUInt32LE(at) : width);
    return bytes.subarray(from, at);
  });
}

/** The hashes, and those of the specification; what lies behind them must stay. */
function both(page: PlainValues): readonly (readonly number[])[] {
  const into = new Int32Array(page.count * 2 + 2).fill(7);
  hashValues(page, into);
  const halves = valuesOf(page).flatMap((value) => {
    const hash = specified(value);
    return [Number(BigInt.asIntN(32, hash >> 32n)), Number(BigInt.asIntN(32, hash))];
  });
  return [[...into], [...halves, 7, 7]];
}

test('known texts have their known hashes', () => {
  const known = { '': 0xef46db3751d8e999n, a: 0xd24ec4f1a98c6e5bn, abc: 0x44bc2cf5ad770999n };
  for (const [text, value] of Object.entries(known))
    expect([text, specified(Buffer.from(text))]).toEqual([text, value]);
  const [found, expected] = both(plain(Object.keys(known).map((text) => Buffer.from(text))));
  expect(found).toEqual(expected);
});

test('values of every length have the hashes of the specification', () => {
  const lengths = Array.from({ length: 200 }, (_, length) =>
    Buffer.from(Array.from({ length }, (_, at) => (at * 251 + length * 17) & 255)),
  );
  const edges = [0, 0x7f, 0x80, 0xff].map((byte) => Buffer.alloc(99, byte));
  const [known, expected] = both(plain([...lengths, ...edges]));
  expect(known).toEqual(expected);
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 30 }), (values) => {
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
