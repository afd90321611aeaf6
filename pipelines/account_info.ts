import { field, fromRequest, lookup, pipeline, reading, table } from 'tonlake/pipeline';
import { accountsAs } from './tables/account_keys.ts';

export default pipeline({
  name: 'account_info',
  doc: 'Latest account states from the API v2 endpoint; account_latest has more columns.',
  endpoint: 'GET /addressInformation',
  walk: lookup({
    keys: ['address'],
    columns: [],
    query: accountsAs('address'),
  }),
  needs: ['transactions'],
  tables: [
    table('account_info', {
      grain: 'one account at one reading',
      key: ['address', '_read_at'],
      columns: {
        address: fromRequest('raw-address', 'address', 'account'),
        balance: field('/balance', 'balance'),
        code: field('/code', 'code of the contract'),
        data: field('/data', 'data of the contract'),
        last_transaction_lt: field(
          '/last_transaction_lt',
          'logical time of its last transaction; 0 for an unknown account',
        ),
        last_transaction_hash: field(
          '/last_transaction_hash',
          'hash of its last transaction; all zeros for an unknown account',
        ),
        frozen_hash: field('/frozen_hash', 'hash of the frozen state'),
        status: field('/status', 'uninit, frozen, active'),
        ...reading(),
      },
    }),
  ],
});
