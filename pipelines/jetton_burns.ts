import { field, ltWindows, pipeline, table } from 'tonlake/pipeline';

export default pipeline({
  name: 'jetton_burns',
  doc: 'Orders that destroy jettons; aborted ones are listed too, with tx_aborted true.',
  endpoint: 'GET /jetton/burns',
  parameters: { sort: 'asc' },
  walk: ltWindows({ ties: { kind: 'content', opcode: 0x595f07bc, parameter: 'jetton_wallet' } }),
  provenBy: ['transactions'],
  crossCheck: {
    kind: 'orders',
    opcode: 0x595f07bc,
    account: 'jetton_wallet',
    isAbortedListed: true,
    contracts: { table: 'jetton_wallets', column: 'address', path: '/jetton/wallets', list: 'jetton_wallets' },
  },
  ignore: ['address_book', 'metadata'],
  tables: [
    table('jetton_burns', {
      grain: 'one burn order, told by the transaction on the jetton wallet',
      record: 'JettonBurn',
      rows: { kind: 'records', path: '/jetton_burns' },
      key: ['tx_hash'],
      sort: ['tx_lt', 'jetton_wallet'],
      time: 'tx_now',
      columns: {
        tx_hash: field('/transaction_hash', 'transaction on the jetton wallet').bloomFilter(),
        tx_lt: field('/transaction_lt', 'logical time of that transaction'),
        tx_now: field('/transaction_now', 'time of that transaction'),
        tx_aborted: field(
          '/transaction_aborted',
          'the order failed: nothing was burnt; absent from servers of 2024',
        ).nullable(),
        query_id: field('/query_id', 'chosen by the sender').nullable(),
        amount: field('/amount', 'in the smallest unit of the jetton'),
        owner: field('/owner', 'owner of the jetton wallet'),
        jetton_wallet: field('/jetton_wallet', 'jetton wallet that burns'),
        jetton_master: field('/jetton_master', 'jetton'),
        response_destination: field('/response_destination', 'who gets what is left of the value'),
        custom_payload: field('/custom_payload', 'as sent'),
        decoded_custom_payload: field('/decoded_custom_payload', 'as the server decodes it').decoration(),
        trace_id: field('/trace_id', 'trace of the transaction').bloomFilter(),
      },
    }),
  ],
});
