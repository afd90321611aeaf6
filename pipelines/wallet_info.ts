import { field, fromRequest, lookup, pipeline, reading, table } from 'tonlake/pipeline';

export default pipeline({
  name: 'wallet_info',
  doc: 'Wallets that received external messages, from the API v2 endpoint; it rejects other contracts, see lookups.',
  endpoint: 'GET /walletInformation',
  walk: lookup({
    keys: ['address'],
    columns: [],
    query: `SELECT destination AS address, max(tx_mc_block_seqno) AS seqno FROM messages
    WHERE direction = 'in' AND source IS NULL AND destination IS NOT NULL
      AND tx_mc_block_seqno BETWEEN $from AND $to GROUP BY destination`,
  }),
  needs: ['transactions'],
  tables: [
    table('wallet_info', {
      grain: 'one wallet at one reading',
      key: ['address', '_read_at'],
      columns: {
        address: fromRequest('raw-address', 'address', 'wallet'),
        balance: field('/balance', 'balance'),
        wallet_type: field('/wallet_type', 'wallet v1 r1 to wallet v5 r1'),
        seqno: field('/seqno', 'seqno of the next message'),
        wallet_id: field('/wallet_id', 'distinguishes wallets that share a key').unit('id'),
        last_transaction_lt: field('/last_transaction_lt', 'logical time of its last transaction'),
        last_transaction_hash: field('/last_transaction_hash', 'hash of its last transaction'),
        status: field('/status', 'uninit, frozen, active'),
        ...reading(),
      },
    }),
  ],
});
