import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Arena } from '../../src/decode/arena.ts';

const sizes = fc.array(fc.oneof(fc.nat({ max: 3000 }), fc.nat({ max: 3 << 20 })), { maxLength: 20 });

test('pieces are aligned and do not overlap until they are released', () => {
  fc.assert(
    fc.property(fc.array(sizes, { maxLength: 5 }), (rounds) => {
      const arena = new Arena();
      for (const round of rounds) {
        const pieces = round.map((bytes) => arena.take(bytes));
        for (const [at, { length, buffer, byteOffset }] of pieces.entries()) {
          expect(length).toBe(round[at]);
          expect(byteOffset % 8).toBe(0);
          const others = pieces.slice(0, at).filter((other) => other.buffer === buffer);
          expect(others.every((other) => other.byteOffset + other.length <= byteOffset)).toBe(true);
        }
        arena.reset();
      }
    }),
    { numRuns: 20 },
  );
});
