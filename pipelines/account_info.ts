import { field, fromAsk, lookup, pipeline, reading, table } from 'tonlake/pipeline';

export default pipeline({
  name: 'account_info',
  doc: 'Latest states of accounts in the form of the older API; account_latest says more.',
  endpoint: 'GET /addressInformation',
  walk: lookup({
    keys: ['address'],
    query: `SELECT account AS address, max(mc_block_seqno) AS seqno FROM transactions
    WHERE mc_block_seqno BETWEEN $from AND $to GROUP BY account`,
  }),
  needs: ['transactions'],
  ignore: ['address_book', 'metadata'],
  tables: [
    table('account_info', {
      grain: 'one account at one reading',
      record: 'V2AddressInformation',
      rows: { kind: 'records', path: '/rows', shape: 'one' },
      key: ['address', '_read_at'],
      sort: ['address'],
      columns: {
        address: fromAsk('raw-address', 'address', 'account'),
        balance: field('/balance', 'balance'),
        code: field('/code', 'the code'),
        data: field('/data', 'the data'),
        last_transaction_lt: field(
          '/last_transaction_lt',
          'logical time of its last transaction; 0 for an unknown account',
        ),
        last_transaction_hash: field('/last_transaction_hash', 'its last transaction; all zero for an unknown account'),
        frozen_hash: field('/frozen_hash', 'hash of the frozen state'),
        status: field('/status', 'uninit, frozen, active'),
        ...reading(),
      },
    }),
  ],
});
