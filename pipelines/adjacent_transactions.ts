import { field, fromAsk, lookup, pipeline, reading, table } from 'tonlake/pipeline';
import { transactionColumns } from './tables/transactions.ts';

export default pipeline({
  name: 'adjacent_transactions',
  doc: 'Parents and children of the transactions whose messages cross the edges of what was exported.',
  endpoint: 'GET /adjacentTransactions',
  walk: lookup({
    keys: ['hash'],
    query: `SELECT DISTINCT tx_hash AS hash FROM messages AS one
    WHERE source IS NOT NULL AND destination IS NOT NULL AND tx_mc_block_seqno BETWEEN $from AND $to
      AND NOT EXISTS (SELECT 1 FROM messages AS other WHERE other.msg_hash = one.msg_hash AND other.direction <> one.direction)`,
  }),
  needs: ['transactions'],
  ignore: ['address_book', 'metadata'],
  tables: [
    table('adjacent_transactions', {
      grain: 'one transaction next to another at one reading',
      record: 'Transaction',
      rows: { kind: 'records', path: '/transactions' },
      key: ['of_hash', 'hash', '_read_at'],
      sort: ['of_hash', 'lt', 'account'],
      time: 'now',
      columns: {
        of_hash: fromAsk('base64-hash', 'hash', 'transaction whose neighbours were asked for'),
        ...transactionColumns,
        in_msg: field('/in_msg', 'message that it received'),
        out_msgs: field('/out_msgs', 'messages that it sent').nullable(),
        ...reading(),
      },
    }),
  ],
});
