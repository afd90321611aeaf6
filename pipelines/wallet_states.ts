import {
  base64Hash,
  bool,
  json,
  lookup,
  lt,
  nanoton,
  pipeline,
  rawAddress,
  reading,
  table,
  text,
  uint32,
} from 'tonlake/pipeline';

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
      rows: { kind: 'records', path: '/wallets' },
      key: ['address', '_read_at'],
      sort: ['address'],
      columns: {
        address: rawAddress('/address', 'account'),
        is_wallet: bool('/is_wallet', 'whether its code is that of a known wallet'),
        wallet_type: text('/wallet_type', 'wallet v1 r1 to wallet v5 r1').nullable(),
        seqno: uint32('/seqno', 'number of the next message').nullable(),
        wallet_id: uint32('/wallet_id', 'tells wallets of one key apart').nullable(),
        balance: nanoton('/balance', 'balance').nullable(),
        extra_currencies: json('/extra_currencies', 'currency id to amount').nullable(),
        is_signature_allowed: bool('/is_signature_allowed', 'whether signed messages are taken; wallet v5').nullable(),
        status: text('/status', 'uninit, frozen, active').nullable(),
        code_hash: base64Hash('/code_hash', 'hash of the code').nullable(),
        last_transaction_hash: base64Hash('/last_transaction_hash', 'its last transaction').nullable(),
        last_transaction_lt: lt('/last_transaction_lt', 'logical time of its last transaction').nullable(),
        ...reading(),
      },
    }),
  ],
});
