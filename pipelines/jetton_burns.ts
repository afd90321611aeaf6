import { field, ltWindows, pipeline, table } from 'tonlake/pipeline';

/** Opcode of `burn`, the message that a row is about. */
const BURN = 0x595f07bc;

export default pipeline({
  name: 'jetton_burns',
  doc: 'Jetton burns; aborted ones are included, with tx_aborted true.',
  endpoint: 'GET /jetton/burns',
  parameters: { sort: 'asc' },
  walk: ltWindows({ column: 'tx_lt', ties: { kind: 'content', opcode: BURN, parameter: 'jetton_wallet' } }),
  provenBy: ['transactions'],
  crossCheck: {
    kind: 'orders',
    opcode: BURN,
    account: 'jetton_wallet',
    isAbortedListed: true,
    contracts: { table: 'jetton_wallets', column: 'address', path: '/jetton/wallets', list: 'jetton_wallets' },
  },
  tables: [
    table('jetton_burns', {
      grain: 'one burn, identified by its transaction on the jetton wallet',
      key: ['tx_hash'],
      sort: ['tx_lt', 'jetton_wallet'],
      time: 'tx_now',
      columns: {
        tx_hash: field('/transaction_hash', 'transaction on the jetton wallet').bloomFilter(),
        tx_lt: field('/transaction_lt', 'logical time of the transaction'),
        tx_now: field('/transaction_now', 'time of the transaction'),
        tx_aborted: field('/transaction_aborted', 'true if the burn failed; not sent by servers of 2024').nullable(),
        query_id: field('/query_id', 'query id chosen by the sender').nullable(),
        amount: field('/amount', 'amount, in the smallest unit of the jetton'),
        owner: field('/owner', 'owner of the jetton wallet'),
        jetton_wallet: field('/jetton_wallet', 'jetton wallet of the owner'),
        jetton_master: field('/jetton_master', 'jetton master'),
        response_destination: field('/response_destination', 'recipient of the remaining TON'),
        custom_payload: field('/custom_payload', 'custom payload, as sent'),
        decoded_custom_payload: field('/decoded_custom_payload', 'custom payload decoded by the server').decoration(),
        trace_id: field('/trace_id', 'trace id of the transaction').bloomFilter(),
      },
    }),
  ],
});
