import { StateAudit, type StateBlock } from '../audit/shard-coverage.ts';
import { blockId } from '../chain/headers.ts';
import { groupBy } from '../core/group-by.ts';
import { intersectSpans, type Span, spanSize } from '../core/span.ts';
import { LOOK_BACK, readStateHeaders } from '../export/state-proof.ts';
import type { DamagedStore } from '../warehouse/index.ts';
import { type BadRow, type Finding, groupBad } from './finding.ts';

/** Number of masterchain blocks whose states are read at once. */
const CHUNK = 1_000;

/**
 * Proves shard states as their walk does: every shard at each block, and the newest blocks according to the headers. The views of
 * both roles exist.
 *
 * @param what the pipeline and table of the states, for findings
 * @param runs blocks with states
 * @param headed blocks with headers
 */
export async function auditStates(
  { database }: DamagedStore,
  what: Pick<Finding, 'pipeline' | 'table'>,
  runs: readonly Span[],
  headed: readonly Span[],
): Promise<readonly Finding[]> {
  const first = await firstOfIndex({ database }, headed);
  const bad: BadRow[] = [];
  for (const span of runs.flatMap(chunksOf)) {
    const near = intersectSpans([{ from: span.from - LOOK_BACK, to: span.to }], headed);
    const headers = (await Promise.all(near.map((run) => readStateHeaders(database.query, run)))).flat();
    const audit = new StateAudit({ runs: near, headers, first });
    const states = await readStates({ database }, span);
    for (let seqno = span.from; seqno <= span.to; seqno++) {
      const fault = audit.fault(seqno, states.get(seqno) ?? []);
      if (fault !== undefined) bad.push([seqno, fault.expected, fault.got]);
    }
  }
  return groupBad({ ...what, kind: 'list' }, bad);
}

/** The first block of the index: that of the first header, unless a state names an older block. */
async function firstOfIndex({ database }: Pick<DamagedStore, 'database'>, headed: readonly Span[]): Promise<number> {
  const first = headed[0]?.from ?? -1;
  const { rows } = await database.query(`SELECT count(*)::INTEGER FROM _shard_states WHERE mc_block_seqno < ${first}`);
  return Number(rows[0]?.[0] ?? 0) === 0 ? first : -1;
}

function chunksOf(span: Span): readonly Span[] {
  return Array.from({ length: Math.ceil(spanSize(span) / CHUNK) }, (_, i) => ({
    from: span.from + i * CHUNK,
    to: Math.min(span.to, span.from + (i + 1) * CHUNK - 1),
  }));
}

async function readStates(
  { database }: Pick<DamagedStore, 'database'>,
  { from, to }: Span,
): Promise<ReadonlyMap<number, readonly StateBlock[]>> {
  const { rows } = await database.query(
    `SELECT mc_seqno, workchain, shard::VARCHAR, seqno, mc_block_seqno, root_hash
     FROM _shard_states WHERE mc_seqno BETWEEN ${from} AND ${to}`,
  );
  // The types are those of the select above.
  const blocks = (rows as readonly (readonly [number, number, string, number, number, string])[]).map(
    ([at, workchain, shard, seqno, mcSeqno, rootHash]) => {
      return { at, id: blockId(workchain, shard, seqno), workchain, shard: BigInt(shard), mcSeqno, rootHash };
    },
  );
  return groupBy(blocks, ({ at }) => at);
}
