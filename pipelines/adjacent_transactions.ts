import { field, fromRequest, lookup, pipeline, reading, table } from 'tonlake/pipeline';
import { crossingMessages } from './tables/crossing_messages.ts';
import { transactionColumns } from './tables/transactions.ts';

export default pipeline({
  name: 'adjacent_transactions',
  doc: 'Parents and children of transactions whose messages cross the edge of the exported range.',
  endpoint: 'GET /adjacentTransactions',
  walk: lookup({
    keys: ['hash'],
    columns: ['in_msg', 'out_msgs'],
    match: 'messages',
    query: `SELECT tx_hash AS hash, string_agg(msg_hash, ' ' ORDER BY msg_hash) AS messages FROM messages
    WHERE tx_mc_block_seqno BETWEEN $from AND $to AND tx_hash IN (SELECT tx_hash ${crossingMessages})
    GROUP BY tx_hash`,
  }),
  needs: ['transactions'],
  tables: [
    table('adjacent_transactions', {
      grain: 'one parent or child of a transaction at one reading',
      key: ['of_hash', 'hash', '_read_at'],
      sort: ['of_hash', 'lt', 'account'],
      time: 'now',
      columns: {
        of_hash: fromRequest('base64-hash', 'hash', 'transaction whose parent and children were requested'),
        ...transactionColumns,
        in_msg: field('/in_msg', 'inbound message'),
        out_msgs: field('/out_msgs', 'outbound messages').nullable(),
        ...reading(),
      },
    }),
  ],
});
