import { ephemeral, field, fromAsk, pipeline, table } from 'tonlake/pipeline';
import { transactionColumns } from './tables/transactions.ts';
import { watchColumns } from './tables/watching.ts';

export default pipeline({
  name: 'pending_transactions',
  doc: 'Predicted or not yet final transactions of the watched accounts; some never reach the chain.',
  endpoint: 'GET /pendingTransactions',
  walk: ephemeral({ account: 'account' }),
  example: 'select account, first_seen, finality, outcome, final_hash from pending_transactions order by first_seen',
  tables: [
    table('pending_transactions', {
      grain: 'one transaction, as last seen by one watch before its trace was complete',
      plays: 'pendingTransactions',
      record: 'Transaction',
      rows: { kind: 'records', path: '/transactions' },
      key: ['hash', '_watch_at'],
      sort: ['first_seen', 'hash'],
      columns: {
        ...transactionColumns,
        trace_external_hash: field('/trace_external_hash', 'hash of the external message that started the trace')
          .bloomFilter()
          .required(),
        in_msg: field('/in_msg', 'inbound message'),
        out_msgs: field('/out_msgs', 'outbound messages').nullable(),
        ...watchColumns,
        final_hash: fromAsk(
          'base64-hash',
          'final_hash',
          'hash of the transaction on chain; null if pending or dropped',
        ).nullable(),
        final_mc_block_seqno: fromAsk('int32', 'final_seqno', 'masterchain block of that transaction').nullable(),
      },
    }),
  ],
});
