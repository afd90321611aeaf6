import { field, ltWindows, pipeline, table, textComment } from 'tonlake/pipeline';

/** Opcode of `transfer`, the message that a row is about. */
const TRANSFER = 0x0f8a7ea5;

export default pipeline({
  name: 'jetton_transfers',
  doc: 'Jetton transfers processed by verified jetton wallets; the API does not list aborted ones.',
  endpoint: 'GET /jetton/transfers',
  parameters: { sort: 'asc' },
  walk: ltWindows({ column: 'tx_lt', ties: { kind: 'content', opcode: TRANSFER, parameter: 'jetton_wallet' } }),
  provenBy: ['transactions'],
  crossCheck: {
    kind: 'orders',
    opcode: TRANSFER,
    account: 'jetton_wallet',
    isAbortedListed: false,
    contracts: { table: 'jetton_wallets', column: 'address', path: '/jetton/wallets', list: 'jetton_wallets' },
  },
  tables: [
    table('jetton_transfers', {
      grain:
        'one transfer, identified by its transaction on the jetton wallet of the sender; it may still fail later in its trace',
      key: ['tx_hash'],
      sort: ['tx_lt', 'jetton_wallet'],
      time: 'tx_now',
      columns: {
        tx_hash: field('/transaction_hash', 'transaction on the jetton wallet of the sender').bloomFilter(),
        tx_lt: field('/transaction_lt', 'logical time of the transaction'),
        tx_now: field('/transaction_now', 'time of the transaction'),
        tx_aborted: field('/transaction_aborted', 'always false here; not sent by servers of 2024').nullable(),
        query_id: field('/query_id', 'query id chosen by the sender').nullable(),
        amount: field('/amount', 'amount, in the smallest unit of the jetton'),
        source: field('/source', 'sender: owner of jetton_wallet').bloomFilter(),
        destination: field('/destination', 'recipient: owner of the receiving jetton wallet').bloomFilter().nullable(),
        jetton_wallet: field('/source_wallet', 'jetton wallet of the sender'),
        jetton_master: field('/jetton_master', 'jetton master'),
        response_destination: field('/response_destination', 'recipient of the remaining TON'),
        custom_payload: field('/custom_payload', 'custom payload, as sent'),
        decoded_custom_payload: field('/decoded_custom_payload', 'custom payload decoded by the server').decoration(),
        forward_ton_amount: field('/forward_ton_amount', 'TON forwarded to the recipient').unit('nanoton'),
        forward_payload: field(
          '/forward_payload',
          'payload forwarded to the recipient; null if it is inline in the body',
        ),
        decoded_forward_payload: field(
          '/decoded_forward_payload',
          'forward payload decoded by the server',
        ).decoration(),
        comment: textComment('/decoded_forward_payload', 'text comment in the forward payload').decoration().nullable(),
        trace_id: field('/trace_id', 'trace id of the transaction').bloomFilter(),
      },
    }),
  ],
});
