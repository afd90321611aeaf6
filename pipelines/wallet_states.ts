import { field, lookup, pipeline, reading, table } from 'tonlake/pipeline';

export default pipeline({
  name: 'wallet_states',
  doc: 'Latest states of accounts read as wallets; other contracts come with is_wallet false.',
  endpoint: 'GET /walletStates',
  walk: lookup({
    keys: ['address'],
    batch: 100,
    query: `SELECT account AS address, max(mc_block_seqno) AS seqno FROM transactions
    WHERE mc_block_seqno BETWEEN $from AND $to GROUP BY account`,
  }),
  needs: ['transactions'],
  ignore: ['address_book', 'metadata'],
  tables: [
    table('wallet_states', {
      grain: 'one account at one reading',
      record: 'WalletState',
      rows: { kind: 'records', path: '/wallets' },
      key: ['address', '_read_at'],
      sort: ['address'],
      columns: {
        address: field('/address', 'account').bloomFilter(),
        is_wallet: field('/is_wallet', 'whether its code is that of a known wallet'),
        wallet_type: field('/wallet_type', 'wallet v1 r1 to wallet v5 r1'),
        seqno: field('/seqno', 'number of the next message'),
        wallet_id: field('/wallet_id', 'tells wallets of one key apart'),
        balance: field('/balance', 'balance'),
        extra_currencies: field('/extra_currencies', 'currency id to amount'),
        is_signature_allowed: field('/is_signature_allowed', 'whether signed messages are taken; wallet v5'),
        status: field('/status', 'uninit, frozen, active'),
        code_hash: field('/code_hash', 'hash of the code'),
        last_transaction_hash: field('/last_transaction_hash', 'its last transaction'),
        last_transaction_lt: field('/last_transaction_lt', 'logical time of its last transaction'),
        ...reading(),
      },
    }),
  ],
});
