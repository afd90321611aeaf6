/**
 * Masterchain blocks at the start of an index whose shard states may lack shards that have had no block since. Later, a state without
 * every shard is wrong.
 */
export const FIRST_BLOCKS = 100;

/** Every shard has a block in so many masterchain blocks. They rarely take more than two. */
export const QUIET_BLOCKS = 1000;

/** A shard; the id is signed or unsigned. */
export interface Shard {
  readonly workchain: number;
  readonly shard: bigint | string;
}

/** Addresses, by their first 64 bits; `to` is the first one after them. */
export interface AddressRange {
  readonly from: bigint;
  readonly to: bigint;
}

const EVERYTHING = 1n << 64n;

/** The addresses of a shard. */
export function addressesOf(shard: bigint | string): AddressRange {
  const id = BigInt.asUintN(64, BigInt(shard));
  // The lowest set bit is the middle of the shard's range.
  const half = id & -id;
  return { from: id - half, to: id + half };
}

/** True if some accounts can belong to both shards. */
export function haveCommonAddresses(a: Shard, b: Shard): boolean {
  if (a.workchain !== b.workchain) return false;
  if (a.shard === b.shard) return true;
  const [one, other] = [addressesOf(a.shard), addressesOf(b.shard)];
  return one.from < other.to && other.from < one.to;
}

/** True if the shards are one of the masterchain, and some that cover the basechain without gaps or overlaps. */
export function coversAll(shards: readonly Shard[]): boolean {
  if (shards.filter(({ workchain }) => workchain === -1).length !== 1) return false;
  const ranges = shards
    .filter(({ workchain }) => workchain === 0)
    .map(({ shard }) => addressesOf(shard))
    .sort((a, b) => (a.from < b.from ? -1 : 1));
  let covered = 0n;
  for (const { from, to } of ranges) {
    if (from !== covered) return false;
    covered = to;
  }
  return covered === EVERYTHING;
}

/** The halves of a shard, which it splits into and is merged from: signed ids, decimal text. The least shard has none. */
export function halvesOf(shard: string): readonly string[] {
  const id = BigInt.asUintN(64, BigInt(shard));
  const quarter = (id & -id) >> 1n;
  return quarter === 0n ? [] : [id - quarter, id + quarter].map((half) => BigInt.asIntN(64, half).toString());
}
