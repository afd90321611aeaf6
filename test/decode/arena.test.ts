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

test('however memory returns from another thread, an arena needs no more than two rounds take', () => {
  const arena = new Arena();
  let away: ArrayBuffer[] = [];
  let peak = 0;
  for (let round = 0; round < 200; round++) {
    arena.reset();
    // Large pieces of changing size among small ones.
    const pieces = Array.from({ length: 24 }, (_, at) =>
      arena.take(at % 4 === 0 ? (1 << 20) + ((at + round * 7) % 24) * 100_000 : 50_000),
    );
    const buffers = [...new Set(pieces.map(({ buffer }) => buffer))] as ArrayBuffer[];
    const sent = structuredClone(buffers, { transfer: buffers });
    // The order is another one each time.
    arena.giveBack(away.toSorted((a, b) => ((a.byteLength * 31 + round) % 7) - ((b.byteLength * 31 + round) % 7)));
    away = sent;
    peak = Math.max(peak, arena.byteSize + away.reduce((sum, { byteLength }) => sum + byteLength, 0));
  }
  // A round has at most 6 blocks of 4 MB and 2 of 1 MB.
  expect(peak).toBeLessThan(2 * 26 * 2 ** 20);
});
