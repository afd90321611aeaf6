import { fetchEnds } from '../chain/index-head.ts';
import { WalkError } from '../core/errors.ts';
import type { Span } from '../core/span.ts';
import type { LtWindow } from './lt-windows.ts';
import type { WalkContext } from './walk-context.ts';

/**
 * The range of logical time of a span of masterchain blocks: from the safe horizon of the block before it to that of its last block. Every
 * transaction below the safe horizon of a block belongs to that block or an earlier one.
 */
export async function horizonRange(context: WalkContext, { from, to }: Span): Promise<LtWindow> {
  const start = from <= context.ends.first ? await firstLt(context) : await fetchHorizon(context, from - 1);
  return { from: start, to: (await fetchHorizon(context, to)) - 1n };
}

async function fetchHorizon({ source, pipeline, states }: WalkContext, seqno: number): Promise<bigint> {
  const label = `${pipeline.name} ${seqno}`;
  const shards = await states.fetch(source, seqno, label);
  if (!coversAll(shards.map(({ workchain, shard }) => ({ workchain, shard: BigInt(shard) })))) {
    throw new WalkError(`walk ${label}: expected the newest block of every shard, got only some`, {
      code: 'no-horizon',
      hint: 'the index begins after the newest block of a shard: start the range at a later block',
    });
  }
  return shards.reduce((least, { endLt }) => (endLt < least ? endLt : least), shards[0]?.endLt ?? 0n);
}

/** First logical time of the first indexed block. */
async function firstLt({ source, ends }: WalkContext): Promise<bigint> {
  const { first } = ends.first === 0 ? await fetchEnds(source) : ends;
  const query = [['mc_seqno', String(first)] as const, ['limit', '1000'] as const];
  return source.fetch({ path: '/blocks', query }, ({ body }) => {
    const starts = [...body.toString().matchAll(/"start_lt":\s*"(\d+)"/g)].map(([, lt]) => BigInt(lt ?? 0));
    return starts.reduce((least, lt) => (lt < least ? lt : least), starts[0] ?? 0n);
  });
}

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
