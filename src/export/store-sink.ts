import type { ProvenBlock } from '../audit/proven-rows.ts';
import { blockId, type Header, type LinkedBlock, parseLinks } from '../chain/headers.ts';
import { type Span, subtractSpans } from '../core/span.ts';
import type { Registry } from '../declare/registry.ts';
import { ROLES, type RoleName } from '../declare/roles.ts';
import { quoteName } from '../sql/canonical-text.ts';
import type { Query } from '../sql/query-result.ts';
import { spanCondition } from '../sql/span-condition.ts';
import { type CommitPart, doneSpans, entriesIn, type Store, stageRewrite } from '../warehouse/index.ts';
import { ProvenChain } from './proven-chain.ts';
import type { SpanSink } from './walk-context.ts';

/** A store as the sink of walks. */
export function storeSink(store: Store, registry: Registry): SpanSink {
  const rowsOf = (role: RoleName, spans: readonly Span[]): string => {
    const played = registry.playing(role);
    const names = Object.keys(ROLES[role].columns).map(quoteName).join(', ');
    return `(SELECT ${names} FROM (${store.rows.select(played.table, entriesIn(store.ledger(), played, spans))}))`;
  };
  return {
    stage: (span) => store.stage(span),
    commit: (staged, draft) => store.commit(staged, draft),
    rewrite: async (rewrites) => {
      const parts: CommitPart[] = [];
      for (const rewrite of rewrites) {
        parts.push(...(await stageRewrite({ store, tables: registry.tables }, rewrite)));
      }
      return store.commitTogether(parts);
    },
    ledger: () => store.ledger(),
    query: store.query,
    rows: rowsOf,
    isRivalled: (pipeline, span) => {
      const { rivals = new Set() } = store;
      if (rivals.size === 0) return false;
      const theirs = store.ledger().filter(({ id }) => rivals.has(id));
      return subtractSpans([span], doneSpans(theirs, pipeline)).length === 0;
    },
    requireKnown: () => store.requireKnown(),
    isQueryable: true,
    rootHash: async (seqno) => (await new ProvenChain(store, registry).read(seqno))?.rootHash,
    headers: (span) => readHeaders(store.query, span, rowsOf('headers', [span])),
    linked: (seqno) => readLinked(store.query, seqno, rowsOf('headers', [{ from: seqno, to: seqno }])),
    transactions: (spans) => readTransactions(store.query, spans, rowsOf('counted', spans)),
    txCount: (spans) => sumTxCounts(store.query, spans, rowsOf('headers', spans)),
  };
}

/** The committed headers of some masterchain blocks, by seqno. @param relation SQL after FROM */
export async function readHeaders(
  query: Query,
  span: Span,
  relation = '_headers',
): Promise<ReadonlyMap<number, readonly Header[]>> {
  const { rows } = await query(
    `SELECT mc_block_seqno, workchain, shard::VARCHAR, seqno, tx_count, start_lt, end_lt, gen_utime
     FROM ${relation} WHERE mc_block_seqno BETWEEN $from AND $to ORDER BY mc_block_seqno`,
    { from: span.from, to: span.to },
  );
  const headers = new Map<number, Header[]>();
  // The types are those of the select above.
  for (const row of rows as readonly (readonly [number, number, string, number, bigint, bigint, bigint, bigint])[]) {
    const [mcSeqno, workchain, shard, seqno, txCount, startLt, endLt, utime] = row;
    const list = headers.get(mcSeqno) ?? [];
    list.push({ mcSeqno, workchain, shard, seqno, txCount: Number(txCount), startLt, endLt, utime: Number(utime) });
    headers.set(mcSeqno, list);
  }
  return headers;
}

async function readLinked(
  query: Query,
  seqno: number,
  relation: string,
): Promise<readonly Pick<LinkedBlock, 'id' | 'prev'>[]> {
  const { rows } = await query(
    `SELECT workchain, shard::VARCHAR, seqno, prev_blocks FROM ${relation} WHERE mc_block_seqno = $seqno`,
    { seqno },
  );
  return rows.map(([workchain, shard, own, prev]) => ({
    id: blockId(Number(workchain), String(shard), Number(own)),
    prev: parseLinks(String(prev)),
  }));
}

/** Blocks with committed transactions. */
async function readTransactions(
  query: Query,
  spans: readonly Span[],
  relation: string,
): Promise<readonly ProvenBlock[]> {
  if (spans.length === 0) return [];
  const { rows } = await query(
    `SELECT mc_block_seqno, block_workchain, block_shard::VARCHAR, block_seqno, count(*)::INTEGER, min(lt), max(lt)
     FROM ${relation} WHERE ${spanCondition('mc_block_seqno', spans)} GROUP BY ALL`,
  );
  // The types are those of the select above.
  return (rows as readonly (readonly [number, number, string, number, number, bigint, bigint])[]).map(
    ([mcSeqno, workchain, shard, seqno, count, firstLt, lastLt]) => ({
      id: blockId(workchain, shard, seqno),
      mcSeqno,
      rows: count,
      firstLt,
      lastLt,
    }),
  );
}

async function sumTxCounts(query: Query, spans: readonly Span[], relation: string): Promise<number> {
  if (spans.length === 0) return 0;
  const where = spanCondition('mc_block_seqno', spans);
  const { rows } = await query(`SELECT coalesce(sum(tx_count), 0)::BIGINT FROM ${relation} WHERE ${where}`);
  return Number(rows[0]?.[0] ?? 0n);
}
