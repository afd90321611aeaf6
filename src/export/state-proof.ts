import type { HeldHeaders, StateHeader } from '../audit/shard-coverage.ts';
import { blockId, parseLinks } from '../chain/headers.ts';
import { intersectSpans, type Span } from '../core/span.ts';
import type { Query } from '../sql/query-result.ts';
import { doneSpans } from '../warehouse/index.ts';
import type { WalkContext } from './walk-context.ts';

/** Masterchain blocks before a span whose headers are read: among so many, every shard has a new block. */
export const LOOK_BACK = 200;

/** The headers in the warehouse that prove the shard states of a span. */
export async function stateHeaders({ sink, ends, registry }: WalkContext, span: Span): Promise<HeldHeaders> {
  const near = [{ from: span.from - LOOK_BACK, to: span.to }];
  const runs = intersectSpans(near, doneSpans(sink.ledger(), registry.playing('headers').pipeline.name));
  const headers = (await Promise.all(runs.map((run) => readStateHeaders(sink.query, run)))).flat();
  return { runs, headers, first: ends.first };
}

/** The columns of headers that prove shard states. */
export async function readStateHeaders(query: Query, { from, to }: Span): Promise<readonly StateHeader[]> {
  const { rows } = await query(
    `SELECT mc_block_seqno, workchain, shard::VARCHAR, seqno, root_hash, prev_blocks
     FROM _headers WHERE mc_block_seqno BETWEEN $from AND $to`,
    { from, to },
  );
  // The types are those of the select above.
  return (rows as readonly (readonly [number, number, string, number, string, string | null])[]).map(
    ([mcSeqno, workchain, shard, seqno, rootHash, prev]) => ({
      ...{ id: blockId(workchain, shard, seqno), workchain, seqno, mcSeqno, rootHash },
      prev: parseLinks(prev ?? '[]'),
    }),
  );
}
