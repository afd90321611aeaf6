import { ephemeral, field, fromAsk, pipeline, table } from 'tonlake/pipeline';
import { transactionColumns } from './tables/transactions.ts';
import { watchColumns } from './tables/watching.ts';

export default pipeline({
  name: 'pending_transactions',
  doc: 'Transactions that the source predicts, or that are not final yet, of the accounts of a watch; some never come on chain.',
  endpoint: 'GET /pendingTransactions',
  walk: ephemeral({ account: 'account' }),
  ignore: ['address_book', 'metadata'],
  example: 'select account, first_seen, finality, outcome, final_hash from pending_transactions order by first_seen',
  tables: [
    table('pending_transactions', {
      grain: 'one transaction as one watch saw it last before its trace was complete',
      plays: 'pendingTransactions',
      record: 'Transaction',
      rows: { kind: 'records', path: '/transactions' },
      key: ['hash', '_watch_at'],
      sort: ['first_seen', 'hash'],
      columns: {
        ...transactionColumns,
        trace_external_hash: field('/trace_external_hash', 'external message that started the trace')
          .bloomFilter()
          .required(),
        in_msg: field('/in_msg', 'message that it receives'),
        out_msgs: field('/out_msgs', 'messages that it sends').nullable(),
        ...watchColumns,
        final_hash: fromAsk(
          'base64-hash',
          'final_hash',
          'transaction on chain; null before, and where it was dropped',
        ).nullable(),
        final_mc_block_seqno: fromAsk('int32', 'final_seqno', 'masterchain block of that transaction').nullable(),
      },
    }),
  ],
});
