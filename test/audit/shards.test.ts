import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { coversAll, type Shard } from '../../src/chain/shards.ts';

const MASTER: Shard = { workchain: -1, shard: -(2n ** 63n) };

/** Halves shards of the basechain, each by its number. */
function split(cuts: readonly number[]): readonly Shard[] {
  const shards = [2n ** 63n];
  for (const cut of cuts) {
    const id = shards.splice(cut % shards.length, 1)[0] as bigint;
    const half = (id & -id) >> 1n;
    shards.push(id - half, id + half);
  }
  return shards.map((shard) => ({ workchain: 0, shard: BigInt.asIntN(64, shard) }));
}

const splits = fc.array(fc.nat(), { maxLength: 12 }).map(split);

describe('shards', () => {
  test('cover everything however they split', () => {
    fc.assert(fc.property(splits, (shards) => coversAll([MASTER, ...shards])));
  });

  test('cover not everything without one of them, whatever comes twice instead', () => {
    fc.assert(
      fc.property(splits, fc.nat(), fc.nat(), (shards, lost, other) => {
        const left = shards.filter((_, at) => at !== lost % shards.length);
        const twice = left[other % Math.max(left.length, 1)];
        expect(coversAll([MASTER, ...left])).toBe(false);
        expect(coversAll([MASTER, ...left, ...(twice === undefined ? [] : [twice])])).toBe(false);
      }),
    );
  });

  test('cover not everything without the masterchain', () => {
    expect(coversAll(split([]))).toBe(false);
    expect(coversAll([MASTER, MASTER, ...split([])])).toBe(false);
  });
});
