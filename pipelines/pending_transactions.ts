import { ephemeral, field, pipeline, table } from 'tonlake/pipeline';
import { pendingOutcomes } from './tables/pending_outcomes.ts';
import { transactionColumns } from './tables/transactions.ts';
import { watchColumns } from './tables/watching.ts';

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
      record: 'Transaction',
      rows: { kind: 'records', path: '/transactions' },
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
      views: [pendingOutcomes],
    }),
  ],
});
