import { field, lookup, pipeline, reading, table } from 'tonlake/pipeline';
import { crossingMessages } from './tables/crossing_messages.ts';
import { transactionColumns } from './tables/transactions.ts';

export default pipeline({
  name: 'transactions_by_message',
  doc: 'Transactions at the other end of messages that cross the edge of the exported range.',
  endpoint: 'GET /transactionsByMessage',
  walk: lookup({
    keys: ['msg_hash'],
    columns: ['in_msg', 'out_msgs'],
    isEachListed: true,
    batch: 100,
    limit: 1000,
    copies: 'last',
    query: `SELECT DISTINCT msg_hash ${crossingMessages}`,
  }),
  needs: ['transactions'],
  tables: [
    table('transactions_by_message', {
      grain: 'one transaction at one reading',
      key: ['hash', '_read_at'],
      sort: ['lt', 'account'],
      time: 'now',
      columns: {
        ...transactionColumns,
        in_msg: field('/in_msg', 'inbound message'),
        out_msgs: field('/out_msgs', 'outbound messages').nullable(),
        ...reading(),
      },
    }),
  ],
});
