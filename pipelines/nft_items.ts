import { field, pipeline, reading, snapshot, table, wideInteger } from 'tonlake/pipeline';

export default pipeline({
  name: 'nft_items',
  doc: 'NFTs as they are now: those of each collection, then those without one; with --from also owner by owner.',
  endpoint: 'GET /nft/items',
  walk: snapshot({
    newer: 'last_transaction_lt',
    parents: {
      parameter: 'collection_address',
      others: ['owner_address'],
      query: 'SELECT DISTINCT address FROM nft_collections',
      hasOrphans: true,
    },
  }),
  needs: ['nft_collections'],
  ignore: ['address_book', 'metadata'],
  tables: [
    table('nft_items', {
      grain: 'one NFT at one reading',
      record: 'NFTItem',
      rows: { kind: 'records', path: '/nft_items' },
      key: ['address', '_read_at'],
      sort: ['address'],
      without: { '/collection': 'a copy of the row of nft_collections, joined by collection_address' },
      columns: {
        address: field('/address', 'contract of the NFT').bloomFilter(),
        is_init: field('/init', 'whether it was set up'),
        ...wideInteger('index', '/index', 'number in its collection'),
        collection_address: field('/collection_address', 'collection'),
        owner_address: field('/owner_address', 'owner; the sale contract while it is on sale'),
        content_onchain: field('/content', 'name and other facts, or the address of them'),
        last_transaction_lt: field('/last_transaction_lt', 'logical time of its last transaction'),
        code_hash: field('/code_hash', 'code of the contract'),
        data_hash: field('/data_hash', 'data of the contract'),
        on_sale: field('/on_sale', 'whether it is for sale').nullable(),
        sale_contract_address: field('/sale_contract_address', 'contract of the sale'),
        auction_contract_address: field('/auction_contract_address', 'contract of the auction'),
        real_owner: field('/real_owner', 'owner while it is on sale'),
        ...reading(),
      },
    }),
  ],
});
