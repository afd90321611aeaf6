import { field, lookup, pipeline, reading, table } from 'tonlake/pipeline';

export default pipeline({
  name: 'account_latest',
  doc: 'Latest states of the accounts that transactions changed; unknown ones are left out.',
  endpoint: 'GET /accountStates',
  walk: lookup({
    keys: ['address'],
    batch: 100,
    query: `SELECT account AS address, max(mc_block_seqno) AS seqno FROM transactions
    WHERE mc_block_seqno BETWEEN $from AND $to GROUP BY account`,
  }),
  needs: ['transactions'],
  ignore: ['address_book', 'metadata'],
  tables: [
    table('account_latest', {
      grain: 'one account at one reading',
      record: 'AccountStateFull',
      rows: { kind: 'records', path: '/accounts' },
      key: ['address', '_read_at'],
      sort: ['address'],
      columns: {
        address: field('/address', 'account').bloomFilter().required(),
        account_state_hash: field('/account_state_hash', 'hash of the state'),
        balance: field('/balance', 'balance'),
        extra_currencies: field('/extra_currencies', 'currency id to amount'),
        status: field('/status', 'uninit, frozen, active'),
        frozen_hash: field('/frozen_hash', 'hash of the frozen state'),
        last_transaction_hash: field('/last_transaction_hash', 'its last transaction'),
        last_transaction_lt: field('/last_transaction_lt', 'logical time of its last transaction'),
        data_hash: field('/data_hash', 'hash of the data'),
        code_hash: field('/code_hash', 'hash of the code'),
        data_boc: field('/data_boc', 'the data'),
        code_boc: field('/code_boc', 'the code'),
        contract_methods: field('/contract_methods', 'ids of its get-methods'),
        interfaces: field('/interfaces', 'what the server takes it for').decoration(),
        ...reading(),
      },
    }),
  ],
});
