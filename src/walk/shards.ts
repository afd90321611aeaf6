/** Whether some shards (unsigned or signed ids) cover the basechain without a gap, next to a block of the masterchain. */
export function coversAll(shards: readonly { readonly workchain: number; readonly shard: bigint }[]): boolean {
  if (!shards.some(({ workchain }) => workchain === -1)) return false;
  let covered = 0n;
  for (const { workchain, shard } of shards) {
    if (workchain !== 0) continue;
    const id = BigInt.asUintN(64, shard);
    // The lowest set bit is the middle of the shard's range.
    covered += 2n * (id & -id);
  }
  return covered === 1n << 64n;
}
