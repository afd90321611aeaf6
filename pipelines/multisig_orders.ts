import { field, lookup, pipeline, reading, table, text } from 'tonlake/pipeline';

export default pipeline({
  name: 'multisig_orders',
  doc: 'Orders of the multisig contracts.',
  endpoint: 'GET /multisig/orders',
  parameters: { parse_actions: 'true' },
  walk: lookup({
    keys: ['multisig_address'],
    batch: 100,
    limit: 1000,
    query: `SELECT address AS multisig_address, max(_as_of_seqno) AS seqno FROM multisig_wallets GROUP BY address`,
  }),
  needs: ['multisig_wallets'],
  ignore: ['address_book', 'metadata'],
  tables: [
    table('multisig_orders', {
      grain: 'one order at one reading',
      record: 'MultisigOrder',
      rows: { kind: 'records', path: '/orders' },
      key: ['address', '_read_at'],
      sort: ['address'],
      columns: {
        address: field('/address', 'contract of the order').bloomFilter(),
        multisig_address: field('/multisig_address', 'multisig contract'),
        order_seqno: text('/order_seqno', 'number of the order, decimal').nullable(),
        threshold: field('/threshold', 'signers that must agree'),
        sent_for_execution: field('/sent_for_execution', 'whether it was carried out'),
        approvals_mask: text('/approvals_mask', 'who agreed, a bit for each signer, decimal').nullable(),
        approvals_num: field('/approvals_num', 'how many agreed'),
        expiration_date: field('/expiration_date', 'time after which it is void').unit('seconds'),
        order_boc: field('/order_boc', 'what is to be done'),
        signers: field('/signers', 'accounts that sign'),
        last_transaction_lt: field('/last_transaction_lt', 'logical time of its last transaction'),
        code_hash: field('/code_hash', 'code of the contract'),
        data_hash: field('/data_hash', 'data of the contract'),
        actions: field('/actions', 'what is to be done, as the server reads it').decoration(),
        ...reading(),
      },
    }),
  ],
});
