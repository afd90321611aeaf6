import { field, lookup, pipeline, reading, table, text } from 'tonlake/pipeline';
import { accountsAs } from './tables/account_keys.ts';

export default pipeline({
  name: 'multisig_wallets',
  doc: 'Multisig contracts whose signers or proposers are accounts in the transactions.',
  endpoint: 'GET /multisig/wallets',
  parameters: { include_orders: 'false' },
  walk: lookup({
    keys: ['wallet_address'],
    columns: ['signers', 'proposers'],
    batch: 100,
    limit: 1000,
    query: accountsAs('wallet_address'),
  }),
  needs: ['transactions'],
  tables: [
    table('multisig_wallets', {
      grain: 'one multisig contract at one reading',
      key: ['address', '_read_at'],
      columns: {
        address: field('/address', 'multisig contract').bloomFilter(),
        next_order_seqno: text('/next_order_seqno', 'number of the next order, decimal').nullable(),
        threshold: field('/threshold', 'number of approvals required'),
        signers: field('/signers', 'addresses of the signers'),
        proposers: field('/proposers', 'addresses of the proposers'),
        last_transaction_lt: field('/last_transaction_lt', 'logical time of its last transaction'),
        code_hash: field('/code_hash', 'code hash of the contract'),
        data_hash: field('/data_hash', 'data hash of the contract'),
        orders: field('/orders', 'its orders; not requested, see multisig_orders'),
        ...reading(),
      },
    }),
  ],
});
