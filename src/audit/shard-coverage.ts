/** A shard; the id is signed or unsigned. */
export interface Shard {
  readonly workchain: number;
  readonly shard: bigint;
}

const EVERYTHING = 1n << 64n;

/** True if the shards are one of the masterchain, and some that cover the basechain without gaps or overlaps. */
export function coversAll(shards: readonly Shard[]): boolean {
  if (shards.filter(({ workchain }) => workchain === -1).length !== 1) return false;
  const ranges = shards
    .filter(({ workchain }) => workchain === 0)
    .map(({ shard }) => {
      const id = BigInt.asUintN(64, shard);
      // The lowest set bit is the middle of the shard's range.
      const half = id & -id;
      return { from: id - half, to: id + half };
    })
    .sort((a, b) => (a.from < b.from ? -1 : 1));
  let covered = 0n;
  for (const { from, to } of ranges) {
    if (from !== covered) return false;
    covered = to;
  }
  return covered === EVERYTHING;
}
