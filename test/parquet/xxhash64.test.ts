import fc from 'fast-check';
import { expect, test } from 'vitest';
import { xxhash64 } from '../../src/parquet/xxhash64.ts';
import { specified } from './specified-xxhash64.ts';

function hash(bytes: Uint8Array): bigint {
  const out = new Int32Array(2);
  xxhash64(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, bytes.length, out, 0);
  return (BigInt.asUintN(32, BigInt(out[0] ?? 0)) << 32n) | BigInt.asUintN(32, BigInt(out[1] ?? 0));
}

test('known texts have their known hashes', () => {
  const known = { '': 0xef46db3751d8e999n, a: 0xd24ec4f1a98c6e5bn, abc: 0x44bc2cf5ad770999n };
  for (const [text, value] of Object.entries(known)) expect([text, hash(Buffer.from(text))]).toEqual([text, value]);
});

test('bytes of every length have the hash of the specification', () => {
  for (let length = 0; length < 200; length++) {
    const bytes = Buffer.from(Array.from({ length }, (_, at) => (at * 251 + length * 17) & 255));
    expect([length, hash(bytes)]).toEqual([length, specified(bytes)]);
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(hash(bytes)).toBe(specified(Buffer.from(bytes)));
    }),
    { numRuns: 1000 },
  );
  for (const byte of [0, 0x7f, 0x80, 0xff]) {
    const bytes = Buffer.alloc(99, byte);
    expect([byte, hash(bytes)]).toEqual([byte, specified(bytes)]);
  }
});

test('a value in the middle of others is hashed alone', () => {
  const out = new Int32Array(6).fill(7);
  const all = Buffer.from('xxabcyy');
  xxhash64(new DataView(all.buffer, all.byteOffset, all.length), 2, 5, out, 2);
  expect([...out]).toEqual([7, 7, 0x44bc2cf5, 0xad770999 | 0, 7, 7]);
});
