import { field, lookup, pipeline, reading, table, text } from 'tonlake/pipeline';

export default pipeline({
  name: 'multisig_wallets',
  doc: 'Multisig contracts that the accounts of transactions sign or propose for.',
  endpoint: 'GET /multisig/wallets',
  parameters: { include_orders: 'false' },
  walk: lookup({
    keys: ['wallet_address'],
    batch: 100,
    limit: 1000,
    query: `SELECT account AS wallet_address, max(mc_block_seqno) AS seqno FROM transactions
    WHERE mc_block_seqno BETWEEN $from AND $to GROUP BY account`,
  }),
  needs: ['transactions'],
  ignore: ['address_book', 'metadata'],
  tables: [
    table('multisig_wallets', {
      grain: 'one multisig contract at one reading',
      record: 'Multisig',
      rows: { kind: 'records', path: '/multisigs' },
      key: ['address', '_read_at'],
      sort: ['address'],
      columns: {
        address: field('/address', 'contract').bloomFilter(),
        next_order_seqno: text('/next_order_seqno', 'number of the next order, decimal').nullable(),
        threshold: field('/threshold', 'signers that must agree'),
        signers: field('/signers', 'accounts that sign'),
        proposers: field('/proposers', 'accounts that propose'),
        last_transaction_lt: field('/last_transaction_lt', 'logical time of its last transaction'),
        code_hash: field('/code_hash', 'code of the contract'),
        data_hash: field('/data_hash', 'data of the contract'),
        orders: field('/orders', 'its orders; none are asked for, multisig_orders has them'),
        ...reading(),
      },
    }),
  ],
});
