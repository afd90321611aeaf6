import type { Header } from '../chain/headers.ts';
import { fetchEnds } from '../chain/index-head.ts';
import { coversAll } from '../chain/shards.ts';
import { SourceError, WalkError } from '../core/errors.ts';
import type { Span } from '../core/span.ts';
import { CommittedHeaders } from './committed-headers.ts';
import type { LtWindow } from './lt-windows.ts';
import type { WalkContext } from './walk-context.ts';

/**
 * The range of logical time of a span of masterchain blocks: from the safe horizon of the block before it to that of its last block. Every
 * transaction below the safe horizon of a block belongs to that block or an earlier one. Committed headers decide; the source is asked
 * where there are none.
 */
export async function horizonRange(context: WalkContext, { from, to }: Span): Promise<LtWindow> {
  const committed = new CommittedHeaders(context);
  const before = await committed.stateAt(from - 1);
  // A later end of the state before would leave out rows of these blocks.
  const start = before === undefined ? await committed.startOf(from) : undefined;
  const until = await committed.stateAt(to);
  // Waits for the last block, which the index did not have yet.
  if (until !== undefined && to > context.ends.last) await fetchHorizon(context, to);
  return {
    from: before === undefined ? least(await fetchStart(context, from, start), start) : leastEnd(before),
    to: (until === undefined ? await fetchHorizon(context, to) : leastEnd(until)) - 1n,
  };
}

/** The safe horizon of the block before a block, as the source has it. */
async function fetchStart(context: WalkContext, from: number, start: bigint | undefined): Promise<bigint> {
  if (from > context.ends.first) return fetchHorizon(context, from - 1);
  return start ?? firstLt(context);
}

function least(lt: bigint, other: bigint | undefined): bigint {
  return other === undefined || lt < other ? lt : other;
}

/** The least end of the blocks of a shard state: its safe horizon, if it has every shard. */
export function leastEnd(state: readonly Header[]): bigint {
  return state.reduce((lowest, { endLt }) => least(lowest, endLt), state[0]?.endLt ?? 0n);
}

async function fetchHorizon({ source, pipeline, states, ends }: WalkContext, seqno: number): Promise<bigint> {
  const label = `${pipeline.name} ${seqno}`;
  try {
    const shards = await states.fetch(source, seqno, label, { first: ends.first });
    if (coversAll(shards)) return leastEnd(shards);
  } catch (error) {
    if (!(error instanceof SourceError) || error.code !== 'short-list') throw error;
    throw noHorizon(label, 'try again later: the source left shards out', error);
  }
  throw noHorizon(label, 'the index begins after the newest block of a shard: start the range at a later block');
}

function noHorizon(label: string, hint: string, cause?: unknown): WalkError {
  const message = `walk ${label}: expected the newest block of every shard, got only some`;
  return new WalkError(message, { code: 'no-horizon', hint, cause });
}

/** First logical time of the first indexed block. */
async function firstLt({ source, ends }: WalkContext): Promise<bigint> {
  const { first } = ends.first === 0 ? await fetchEnds(source) : ends;
  const query = [['mc_seqno', String(first)] as const, ['limit', '1000'] as const];
  return source.fetch({ path: '/blocks', query }, ({ body }) => {
    const starts = [...body.toString().matchAll(/"start_lt":\s*"(\d+)"/g)].map(([, lt]) => BigInt(lt ?? 0));
    return starts.reduce(least, starts[0] ?? 0n);
  });
}
