import { field, ltWindows, pipeline, table, textComment } from 'tonlake/pipeline';

export default pipeline({
  name: 'jetton_transfers',
  doc: 'Orders that move jettons, as verified jetton wallets processed them; aborted ones are never listed.',
  endpoint: 'GET /jetton/transfers',
  parameters: { sort: 'asc' },
  walk: ltWindows({ ties: { kind: 'content', opcode: 0x0f8a7ea5, parameter: 'jetton_wallet' } }),
  provenBy: ['transactions'],
  crossCheck: {
    kind: 'orders',
    opcode: 0x0f8a7ea5,
    account: 'jetton_wallet',
    isAbortedListed: false,
    contracts: { table: 'jetton_wallets', column: 'address', path: '/jetton/wallets', list: 'jetton_wallets' },
  },
  ignore: ['address_book', 'metadata'],
  tables: [
    table('jetton_transfers', {
      grain:
        'one transfer order, told by the transaction on the jetton wallet of the sender; it may still fail later in its trace',
      record: 'JettonTransfer',
      rows: { kind: 'records', path: '/jetton_transfers' },
      key: ['tx_hash'],
      sort: ['tx_lt', 'jetton_wallet'],
      time: 'tx_now',
      columns: {
        tx_hash: field('/transaction_hash', 'transaction on the jetton wallet of the sender').bloomFilter(),
        tx_lt: field('/transaction_lt', 'logical time of that transaction'),
        tx_now: field('/transaction_now', 'time of that transaction'),
        tx_aborted: field('/transaction_aborted', 'always false here; absent from servers of 2024').nullable(),
        query_id: field('/query_id', 'chosen by the sender').nullable(),
        amount: field('/amount', 'in the smallest unit of the jetton'),
        source: field('/source', 'owner who sends').bloomFilter(),
        destination: field('/destination', 'owner who receives').bloomFilter().nullable(),
        jetton_wallet: field('/source_wallet', 'jetton wallet of the sender'),
        jetton_master: field('/jetton_master', 'jetton'),
        response_destination: field('/response_destination', 'who gets what is left of the value'),
        custom_payload: field('/custom_payload', 'as sent'),
        decoded_custom_payload: field('/decoded_custom_payload', 'as the server decodes it').decoration(),
        forward_ton_amount: field('/forward_ton_amount', 'sent on to the receiver').unit('nanoton'),
        forward_payload: field('/forward_payload', 'sent on to the receiver; null where it stands inside the body'),
        decoded_forward_payload: field('/decoded_forward_payload', 'as the server decodes it').decoration(),
        comment: textComment('/decoded_forward_payload', 'text comment of the forward payload').decoration().nullable(),
        trace_id: field('/trace_id', 'trace of the transaction').bloomFilter(),
      },
    }),
  ],
});
