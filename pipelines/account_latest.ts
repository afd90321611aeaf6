import {
  base64Hash,
  boc,
  json,
  lookup,
  lt,
  nanoton,
  pipeline,
  rawAddress,
  reading,
  table,
  text,
} from 'tonlake/pipeline';

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
      rows: { kind: 'records', path: '/accounts' },
      key: ['address', '_read_at'],
      sort: ['address'],
      columns: {
        address: rawAddress('/address', 'account'),
        account_state_hash: base64Hash('/account_state_hash', 'hash of the state'),
        balance: nanoton('/balance', 'balance').nullable(),
        extra_currencies: json('/extra_currencies', 'currency id to amount').nullable(),
        status: text('/status', 'uninit, frozen, active').nullable(),
        frozen_hash: base64Hash('/frozen_hash', 'hash of the frozen state').nullable(),
        last_transaction_hash: base64Hash('/last_transaction_hash', 'its last transaction').nullable(),
        last_transaction_lt: lt('/last_transaction_lt', 'logical time of its last transaction').nullable(),
        data_hash: base64Hash('/data_hash', 'hash of the data').nullable(),
        code_hash: base64Hash('/code_hash', 'hash of the code').nullable(),
        data_boc: boc('/data_boc', 'the data').nullable(),
        code_boc: boc('/code_boc', 'the code').nullable(),
        contract_methods: json('/contract_methods', 'ids of its get-methods').nullable(),
        interfaces: json('/interfaces', 'what the server takes it for').decoration().nullable(),
        ...reading(),
      },
    }),
  ],
});
