import { base64Hash, boc, fromAsk, lookup, lt, nanoton, pipeline, reading, table, text } from 'tonlake/pipeline';

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
      rows: { kind: 'records', path: '/rows', shape: 'one' },
      key: ['address', '_read_at'],
      sort: ['address'],
      columns: {
        address: fromAsk('raw-address', 'address', 'account'),
        balance: nanoton('/balance', 'balance'),
        code: boc('/code', 'the code').nullable(),
        data: boc('/data', 'the data').nullable(),
        last_transaction_lt: lt(
          '/last_transaction_lt',
          'logical time of its last transaction; 0 for an unknown account',
        ).nullable(),
        last_transaction_hash: base64Hash(
          '/last_transaction_hash',
          'its last transaction; all zero for an unknown account',
        ).nullable(),
        frozen_hash: base64Hash('/frozen_hash', 'hash of the frozen state').nullable(),
        status: text('/status', 'uninit, frozen, active'),
        ...reading(),
      },
    }),
  ],
});
