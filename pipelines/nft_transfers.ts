import { field, ltWindows, pipeline, table, textComment } from 'tonlake/pipeline';

/** Opcode of `transfer`, the message that a row is about. */
const TRANSFER = 0x5fcc3d14;

export default pipeline({
  name: 'nft_transfers',
  doc: 'NFT transfers; aborted ones are included, with tx_aborted true.',
  endpoint: 'GET /nft/transfers',
  parameters: { sort: 'asc' },
  walk: ltWindows({ column: 'tx_lt', ties: { kind: 'content', opcode: TRANSFER, parameter: 'item_address' } }),
  provenBy: ['transactions'],
  crossCheck: {
    kind: 'orders',
    opcode: TRANSFER,
    account: 'nft_item_address',
    isAbortedListed: true,
    contracts: { table: 'nft_items', column: 'address', path: '/nft/items', list: 'nft_items' },
  },
  tables: [
    table('nft_transfers', {
      grain: 'one transfer, identified by its transaction on the NFT item',
      key: ['tx_hash'],
      sort: ['tx_lt', 'nft_item_address'],
      time: 'tx_now',
      columns: {
        tx_hash: field('/transaction_hash', 'transaction on the NFT item').bloomFilter(),
        tx_lt: field('/transaction_lt', 'logical time of the transaction'),
        tx_now: field('/transaction_now', 'time of the transaction'),
        tx_aborted: field(
          '/transaction_aborted',
          'true if the transfer failed; not sent by servers of 2024',
        ).nullable(),
        query_id: field('/query_id', 'query id chosen by the sender').nullable(),
        nft_item_address: field('/nft_address', 'NFT item'),
        nft_collection_address: field('/nft_collection', 'collection; empty for an item without one').nullable(),
        old_owner: field('/old_owner', 'owner before'),
        new_owner: field('/new_owner', 'owner after').nullable(),
        response_destination: field('/response_destination', 'recipient of the remaining TON'),
        custom_payload: field('/custom_payload', 'custom payload, as sent'),
        decoded_custom_payload: field('/decoded_custom_payload', 'custom payload decoded by the server').decoration(),
        forward_amount: field('/forward_amount', 'TON forwarded to the new owner').unit('nanoton'),
        forward_payload: field('/forward_payload', 'payload forwarded to the new owner'),
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
