import {
  base64Hash,
  bool,
  json,
  lt,
  pipeline,
  rawAddress,
  reading,
  snapshot,
  table,
  wideInteger,
} from 'tonlake/pipeline';

export default pipeline({
  name: 'nft_items',
  doc: 'NFTs of collections as they are now, collection by collection; with --from also owner by owner.',
  endpoint: 'GET /nft/items',
  walk: snapshot({
    newer: 'last_transaction_lt',
    parents: {
      parameter: 'collection_address',
      others: ['owner_address'],
      query: 'SELECT DISTINCT address FROM nft_collections',
    },
  }),
  needs: ['nft_collections'],
  ignore: ['address_book', 'metadata'],
  tables: [
    table('nft_items', {
      grain: 'one NFT at one reading',
      rows: { kind: 'records', path: '/nft_items' },
      key: ['address', '_read_at'],
      sort: ['address'],
      without: { '/collection': 'a copy of the row of nft_collections, joined by collection_address' },
      columns: {
        address: rawAddress('/address', 'contract of the NFT'),
        is_init: bool('/init', 'whether it was set up'),
        ...wideInteger('index', '/index', 'number in its collection'),
        collection_address: rawAddress('/collection_address', 'collection').nullable(),
        owner_address: rawAddress('/owner_address', 'owner; the sale contract while it is on sale').nullable(),
        content_onchain: json('/content', 'name and other facts, or the address of them').nullable(),
        last_transaction_lt: lt('/last_transaction_lt', 'logical time of its last transaction'),
        code_hash: base64Hash('/code_hash', 'code of the contract'),
        data_hash: base64Hash('/data_hash', 'data of the contract'),
        on_sale: bool('/on_sale', 'whether it is for sale').nullable(),
        sale_contract_address: rawAddress('/sale_contract_address', 'contract of the sale').nullable(),
        auction_contract_address: rawAddress('/auction_contract_address', 'contract of the auction').nullable(),
        real_owner: rawAddress('/real_owner', 'owner while it is on sale').nullable(),
        ...reading(),
      },
    }),
  ],
});
