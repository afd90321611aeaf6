import { base64Hash, int32, json, lookup, lt, pipeline, rawAddress, reading, table, text } from 'tonlake/pipeline';

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
      rows: { kind: 'records', path: '/multisigs' },
      key: ['address', '_read_at'],
      sort: ['address'],
      columns: {
        address: rawAddress('/address', 'contract'),
        next_order_seqno: text('/next_order_seqno', 'number of the next order, decimal').nullable(),
        threshold: int32('/threshold', 'signers that must agree').nullable(),
        signers: json('/signers', 'accounts that sign').nullable(),
        proposers: json('/proposers', 'accounts that propose').nullable(),
        last_transaction_lt: lt('/last_transaction_lt', 'logical time of its last transaction'),
        code_hash: base64Hash('/code_hash', 'code of the contract').nullable(),
        data_hash: base64Hash('/data_hash', 'data of the contract').nullable(),
        orders: json('/orders', 'its orders; none are asked for, multisig_orders has them').nullable(),
        ...reading(),
      },
    }),
  ],
});
