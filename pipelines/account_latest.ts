import { field, lookup, pipeline, reading, table } from 'tonlake/pipeline';
import { accountsAs } from './tables/account_keys.ts';

export default pipeline({
  name: 'account_latest',
  doc: 'Latest states of the accounts in the transactions; accounts unknown to the index have no row.',
  endpoint: 'GET /accountStates',
  walk: lookup({
    keys: ['address'],
    columns: ['address'],
    isEachListed: true,
    batch: 100,
    query: accountsAs('address'),
  }),
  needs: ['transactions'],
  tables: [
    table('account_latest', {
      grain: 'one account at one reading',
      key: ['address', '_read_at'],
      columns: {
        address: field('/address', 'account').bloomFilter().required(),
        account_state_hash: field('/account_state_hash', 'hash of the state'),
        balance: field('/balance', 'balance'),
        extra_currencies: field('/extra_currencies', 'extra currencies: amount by currency id'),
        status: field('/status', 'uninit, frozen, active'),
        frozen_hash: field('/frozen_hash', 'hash of the frozen state'),
        last_transaction_hash: field('/last_transaction_hash', 'hash of its last transaction'),
        last_transaction_lt: field('/last_transaction_lt', 'logical time of its last transaction'),
        data_hash: field('/data_hash', 'hash of the data'),
        code_hash: field('/code_hash', 'hash of the code'),
        data_boc: field('/data_boc', 'data of the contract'),
        code_boc: field('/code_boc', 'code of the contract'),
        contract_methods: field('/contract_methods', 'ids of its get-methods'),
        interfaces: field('/interfaces', 'interfaces of the contract, detected by the server').decoration(),
        ...reading(),
      },
    }),
  ],
});
