import { field, ltWindows, pipeline, table, textComment } from 'tonlake/pipeline';

export default pipeline({
  name: 'nft_transfers',
  doc: 'Orders that give an NFT to another owner; aborted ones are listed too, with tx_aborted true.',
  endpoint: 'GET /nft/transfers',
  parameters: { sort: 'asc' },
  walk: ltWindows({ ties: { kind: 'content', opcode: 0x5fcc3d14, parameter: 'item_address' } }),
  provenBy: ['transactions'],
  ignore: ['address_book', 'metadata'],
  tables: [
    table('nft_transfers', {
      grain: 'one transfer order, told by the transaction on the NFT item',
      record: 'NFTTransfer',
      rows: { kind: 'records', path: '/nft_transfers' },
      key: ['tx_hash'],
      sort: ['tx_lt', 'nft_item_address'],
      time: 'tx_now',
      columns: {
        tx_hash: field('/transaction_hash', 'transaction on the item'),
        tx_lt: field('/transaction_lt', 'logical time of that transaction'),
        tx_now: field('/transaction_now', 'time of that transaction'),
        tx_aborted: field(
          '/transaction_aborted',
          'the order failed: the owner stayed; absent from servers of 2024',
        ).nullable(),
        query_id: field('/query_id', 'chosen by the sender').nullable(),
        nft_item_address: field('/nft_address', 'item'),
        nft_collection_address: field('/nft_collection', 'collection; empty for an item without one').nullable(),
        old_owner: field('/old_owner', 'owner before'),
        new_owner: field('/new_owner', 'owner after').nullable(),
        response_destination: field('/response_destination', 'who gets what is left of the value'),
        custom_payload: field('/custom_payload', 'as sent'),
        decoded_custom_payload: field('/decoded_custom_payload', 'as the server decodes it').decoration(),
        forward_amount: field('/forward_amount', 'sent on to the new owner').unit('nanoton'),
        forward_payload: field('/forward_payload', 'sent on to the new owner'),
        decoded_forward_payload: field('/decoded_forward_payload', 'as the server decodes it').decoration(),
        comment: textComment('/decoded_forward_payload', 'text comment of the forward payload').decoration().nullable(),
        trace_id: field('/trace_id', 'trace of the transaction'),
      },
    }),
  ],
});
