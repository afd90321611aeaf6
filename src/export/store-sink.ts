import type { SealedBlock } from '../audit/sealed-rows.ts';
import { blockId, type Header } from '../chain/headers.ts';
import type { Span } from '../core/span.ts';
import type { Query } from '../sql/query-result.ts';
import type { Store } from '../warehouse/index.ts';
import type { SpanSink } from './walk-context.ts';

/** A store as the sink of walks. */
export function storeSink(store: Store): SpanSink {
  return {
    stage: (pipeline, span) => store.stage(pipeline, span),
    commit: (staged, draft) => store.commit(staged, draft),
    ledger: () => store.ledger(),
    query: store.query,
    isKept: true,
    headers: (span) => readHeaders(store.query, span),
    transactions: (spans) => readTransactions(store.query, spans),
  };
}

/** The committed headers of some masterchain blocks, by seqno. */
export async function readHeaders(query: Query, span: Span): Promise<ReadonlyMap<number, readonly Header[]>> {
  const { rows } = await query(
    `SELECT mc_block_seqno, workchain, shard::VARCHAR, seqno, tx_count, start_lt, end_lt
     FROM _headers WHERE mc_block_seqno BETWEEN $from AND $to ORDER BY mc_block_seqno`,
    { from: span.from, to: span.to },
  );
  const headers = new Map<number, Header[]>();
  // The types are those of the select above.
  for (const row of rows as readonly (readonly [number, number, string, number, bigint, bigint, bigint])[]) {
    const [mcSeqno, workchain, shard, seqno, txCount, startLt, endLt] = row;
    const list = headers.get(mcSeqno) ?? [];
    list.push({ mcSeqno, workchain, shard, seqno, txCount: Number(txCount), startLt, endLt });
    headers.set(mcSeqno, list);
  }
  return headers;
}

/** Blocks with committed transactions. */
async function readTransactions(query: Query, spans: readonly Span[]): Promise<readonly SealedBlock[]> {
  const blocks: SealedBlock[] = [];
  for (const { from, to } of spans) {
    const { rows } = await query(
      `SELECT mc_block_seqno, block_workchain, block_shard::VARCHAR, block_seqno, count(*)::INTEGER, min(lt), max(lt)
       FROM _counted WHERE mc_block_seqno BETWEEN $from AND $to GROUP BY ALL`,
      { from, to },
    );
    // The types are those of the select above.
    for (const row of rows as readonly (readonly [number, number, string, number, number, bigint, bigint])[]) {
      const [mcSeqno, workchain, shard, seqno, count, firstLt, lastLt] = row;
      blocks.push({ id: blockId(workchain, shard, seqno), mcSeqno, rows: count, firstLt, lastLt });
    }
  }
  return blocks;
}

/** Number of transactions in some spans, by their headers. */
export async function countPromised(query: Query, spans: readonly Span[]): Promise<number> {
  let records = 0;
  for (const { from, to } of spans) {
    const { rows } = await query(
      'SELECT coalesce(sum(tx_count), 0)::BIGINT FROM _headers WHERE mc_block_seqno BETWEEN $from AND $to',
      { from, to },
    );
    records += Number(rows[0]?.[0] ?? 0n);
  }
  return records;
}
