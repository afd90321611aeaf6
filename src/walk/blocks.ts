import type { Header } from '../audit/header.ts';
import type { Span } from '../span.ts';
import type { Store } from '../store/store.ts';
import type { SpanSink } from './context.ts';

/** A store as walks use it. */
export function storeSink(store: Store): SpanSink {
  return {
    stage: (pipeline, span) => store.stage(pipeline, span),
    commit: (staged, draft) => store.commit(staged, draft),
    ledger: () => store.ledger(),
    headers: (span) => readHeaders(store, span),
  };
}

/** The committed headers of some masterchain blocks, by seqno. */
async function readHeaders(store: Store, span: Span): Promise<ReadonlyMap<number, readonly Header[]>> {
  const { rows } = await store.query(
    `SELECT mc_block_seqno, workchain, shard::VARCHAR, seqno, tx_count, start_lt, end_lt
     FROM blocks WHERE mc_block_seqno BETWEEN $from AND $to ORDER BY mc_block_seqno`,
    { from: span.from, to: span.to },
  );
  const headers = new Map<number, Header[]>();
  // The types are those of the select above.
  for (const row of rows as readonly (readonly [number, number, string, number, bigint, bigint, bigint])[]) {
    const [mcSeqno, workchain, shard, seqno, txCount, startLt, endLt] = row;
    const list = headers.get(mcSeqno) ?? [];
    list.push({ mcSeqno, workchain, shard, seqno, txCount: Number(txCount), startLt, endLt, prev: [] });
    headers.set(mcSeqno, list);
  }
  return headers;
}

/** Transactions that the headers of some spans promise, and the requests of one page each that they take. */
export async function countPromised(
  query: Store['query'],
  spans: readonly Span[],
): Promise<{ readonly records: number; readonly requests: number }> {
  let records = 0;
  let requests = 0;
  for (const { from, to } of spans) {
    const { rows } = await query(
      `SELECT coalesce(sum(n), 0)::BIGINT, coalesce(sum(n // 1000 + 1), 0)::BIGINT FROM
       (SELECT sum(tx_count)::BIGINT AS n FROM blocks WHERE mc_block_seqno BETWEEN $from AND $to GROUP BY mc_block_seqno)`,
      { from, to },
    );
    const [sum = 0n, pages = 0n] = rows[0] as readonly bigint[];
    records += Number(sum);
    requests += Number(pages);
  }
  return { records, requests };
}
