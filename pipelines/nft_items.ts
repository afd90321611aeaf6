import { field, pipeline, reading, snapshot, table, wideInteger } from 'tonlake/pipeline';

export default pipeline({
  name: 'nft_items',
  doc: 'Current state of NFTs, listed by collection, then those without one; with --from also by owner.',
  endpoint: 'GET /nft/items',
  walk: snapshot({
    newer: 'last_transaction_lt',
    parents: {
      parameter: 'collection_address',
      column: 'collection_address',
      others: { owner_address: 'owner_address' },
      query: 'SELECT DISTINCT address FROM nft_collections',
      hasOrphans: true,
    },
  }),
  needs: ['nft_collections'],
  tables: [
    table('nft_items', {
      grain: 'one NFT at one reading',
      key: ['address', '_read_at'],
      without: { '/collection': 'a copy of the row of nft_collections, joined by collection_address' },
      columns: {
        address: field('/address', 'NFT item').bloomFilter(),
        is_init: field('/init', 'true if the contract is initialized'),
        ...wideInteger('index', '/index', 'index in its collection', 'id'),
        collection_address: field('/collection_address', 'collection'),
        owner_address: field('/owner_address', 'owner; while on sale, the sale contract'),
        content_onchain: field('/content', 'name and other metadata, or its URI'),
        last_transaction_lt: field('/last_transaction_lt', 'logical time of its last transaction'),
        code_hash: field('/code_hash', 'code hash of the contract'),
        data_hash: field('/data_hash', 'data hash of the contract'),
        on_sale: field('/on_sale', 'true if it is on sale').nullable(),
        sale_contract_address: field('/sale_contract_address', 'sale contract'),
        auction_contract_address: field('/auction_contract_address', 'auction contract'),
        real_owner: field('/real_owner', 'owner while it is on sale'),
        ...reading(),
      },
    }),
  ],
});
