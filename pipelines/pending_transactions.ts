import { ephemeral, field, pipeline, table } from 'tonlake/pipeline';
import { transactionColumns } from './tables/transactions.ts';
import { watchColumns } from './tables/watching.ts';

/**
 * Outcomes of pending transactions. A prediction and the transaction on chain have the same hash, or consumed the same message, or came from
 * the same sender with the same opcode, if only one of the trace did. A message may be predicted more than once.
 */
const outcomes = {
  name: 'pending_outcomes',
  doc: 'pending transactions as they were seen last, and what became of them, by `transactions`, `messages` and `traces`',
  sql: `WITH seen AS (
      SELECT * FROM pending_transactions QUALIFY row_number() OVER (PARTITION BY hash ORDER BY seen_at DESC) = 1),
    final AS (
      SELECT tx.hash, tx.account, tx.trace_id, tx.mc_block_seqno, one.msg_hash,
        concat_ws(' ', tx.account, coalesce(one.source, '-'), coalesce(format('0x{:08x}', one.opcode::BIGINT & 4294967295), '-')) AS route
      FROM transactions AS tx LEFT JOIN messages AS one ON one.tx_hash = tx.hash AND one.direction = 'in'
      WHERE tx.account IN (SELECT account FROM seen)),
    whole AS (
      SELECT external_hash, trace_id FROM traces
      JOIN (SELECT trace_id, count(*) AS held FROM transactions GROUP BY trace_id) USING (trace_id)
      WHERE held = traces.transactions),
    same AS (
      SELECT seen.hash, final.hash AS final_hash FROM seen JOIN final ON final.hash = seen.hash
      UNION ALL
      SELECT seen.hash, min(final.hash) FROM seen
      JOIN final ON final.msg_hash = (seen.in_msg->>'hash') AND final.account = seen.account
      WHERE seen.hash NOT IN (SELECT hash FROM final) GROUP BY seen.hash),
    likely AS (
      SELECT seen.hash, min(final.hash) AS final_hash FROM seen
      JOIN whole ON whole.external_hash = seen.trace_external_hash
      JOIN final ON final.trace_id = whole.trace_id AND final.route = concat_ws(' ', seen.account,
        coalesce(seen.in_msg->>'source', '-'), coalesce(lower(seen.in_msg->>'opcode'), '-'))
      WHERE seen.hash NOT IN (SELECT hash FROM same) AND final.hash NOT IN (SELECT final_hash FROM same)
      GROUP BY seen.hash HAVING count(*) = 1),
    found AS (FROM same UNION ALL FROM likely)
    SELECT seen.*, found.final_hash, final.mc_block_seqno AS final_mc_block_seqno,
      CASE WHEN found.final_hash = seen.hash THEN 'on_chain' WHEN found.final_hash IS NOT NULL THEN 'replaced'
        WHEN whole.trace_id IS NOT NULL THEN 'dropped' END AS outcome
    FROM seen LEFT JOIN found ON found.hash = seen.hash LEFT JOIN final ON final.hash = found.final_hash
    LEFT JOIN whole ON whole.external_hash = seen.trace_external_hash`,
  adds: {
    final_hash: 'hash of the transaction on chain; null if pending or dropped',
    final_mc_block_seqno: 'masterchain block of that transaction',
    outcome:
      'on_chain, replaced (another transaction consumed the message, or came from the same sender with the same opcode) or dropped (its trace is complete, and all its transactions are there, without this one); null if it is not known yet',
  },
};

export default pipeline({
  name: 'pending_transactions',
  doc: 'Predicted or not yet final transactions of the watched accounts; some never reach the chain.',
  endpoint: 'GET /pendingTransactions',
  walk: ephemeral({ account: 'account' }),
  example: 'select account, seen_at, finality from pending_transactions order by seen_at',
  tables: [
    table('pending_transactions', {
      grain: 'one transaction, as one watch saw it: a row when it is new, and whenever it has changed',
      plays: 'pendingTransactions',
      key: ['hash', '_watch_at', 'seen_at'],
      sort: ['seen_at', 'hash'],
      columns: {
        ...transactionColumns,
        trace_external_hash: field('/trace_external_hash', 'hash of the external message that started the trace')
          .bloomFilter()
          .required(),
        in_msg: field('/in_msg', 'inbound message'),
        out_msgs: field('/out_msgs', 'outbound messages').nullable(),
        ...watchColumns,
      },
      views: [outcomes],
    }),
  ],
});
