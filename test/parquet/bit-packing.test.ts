import fc from 'fast-check';
import { expect, test } from 'vitest';
import { packBits, putVarint, putZigzag } from '../../src/parquet/bit-packing.ts';

const anyWord = fc.integer({ min: 0, max: 0xffffffff });

test('values of every width are packed with their least significant bit first', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 32 }), fc.array(anyWord, { maxLength: 40 }), (bits, words) => {
      const values = words.map((word) => BigInt.asUintN(bits, BigInt(word)));
      const end = (values.length + 7) & ~7;
      const out = new Uint8Array((end * bits) / 8);
      const ints = Int32Array.from(values, (value) => Number(BigInt.asIntN(32, value)));
      expect(packBits(ints, 0, values.length, end, bits, out, 0)).toBe(out.length);
      const whole = values.reduce((sum, value, at) => sum | (value << BigInt(at * bits)), 0n);
      const packed = out.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
      expect(packed).toBe(whole);
    }),
  );
});

test('varints and zigzag read back', () => {
  const read = (out: Uint8Array, end: number): bigint =>
    out.subarray(0, end).reduceRight((sum, byte) => (sum << 7n) | BigInt(byte & 127), 0n);
  fc.assert(
    fc.property(anyWord, (word) => {
      const out = new Uint8Array(5);
      expect(read(out, putVarint(out, 0, word))).toBe(BigInt(word));
      const number = word | 0;
      const zigzag = read(out, putZigzag(out, 0, number));
      expect(Number((zigzag >> 1n) ^ -(zigzag & 1n))).toBe(number);
    }),
  );
});
