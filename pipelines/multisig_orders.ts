import { field, lookup, pipeline, reading, table, text } from 'tonlake/pipeline';

export default pipeline({
  name: 'multisig_orders',
  doc: 'Orders of multisig contracts.',
  endpoint: 'GET /multisig/orders',
  parameters: { parse_actions: 'true' },
  walk: lookup({
    keys: ['multisig_address'],
    columns: ['multisig_address'],
    batch: 100,
    limit: 1000,
    query: `SELECT address AS multisig_address, max(_as_of_seqno) AS seqno FROM multisig_wallets GROUP BY address`,
  }),
  needs: ['multisig_wallets'],
  tables: [
    table('multisig_orders', {
      grain: 'one order at one reading',
      key: ['address', '_read_at'],
      columns: {
        address: field('/address', 'contract of the order').bloomFilter(),
        multisig_address: field('/multisig_address', 'multisig contract'),
        order_seqno: text('/order_seqno', 'number of the order, decimal').nullable(),
        threshold: field('/threshold', 'number of approvals required'),
        sent_for_execution: field('/sent_for_execution', 'true if it was sent for execution'),
        approvals_mask: text('/approvals_mask', 'approvals as a bit mask, one bit per signer, decimal').nullable(),
        approvals_num: field('/approvals_num', 'number of approvals'),
        expiration_date: field('/expiration_date', 'expiration time').unit('seconds'),
        order_boc: field('/order_boc', 'order to execute'),
        signers: field('/signers', 'addresses of the signers'),
        last_transaction_lt: field('/last_transaction_lt', 'logical time of its last transaction'),
        code_hash: field('/code_hash', 'code hash of the contract'),
        data_hash: field('/data_hash', 'data hash of the contract'),
        actions: field('/actions', 'actions of the order, decoded by the server').decoration(),
        ...reading(),
      },
    }),
  ],
});
