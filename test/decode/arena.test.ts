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

test('an arena takes no more memory than its largest round needs', () => {
  const arena = new Arena();
  let peak = 0;
  for (let round = 0; round < 200; round++) {
    arena.reset();
    // Large pieces of changing size among small ones.
    for (let at = 0; at < 24; at++) arena.take(at % 4 === 0 ? (1 << 20) + ((at + round * 7) % 24) * 100_000 : 50_000);
    peak = Math.max(peak, arena.byteSize);
  }
  // A round has at most 6 blocks of 4 MB and 2 of 1 MB.
  expect(peak).toBeLessThan(2 * 26 * 2 ** 20);
});
