import { field, pipeline, reading, snapshot, table, wideInteger } from 'tonlake/pipeline';

export default pipeline({
  name: 'nft_collections',
  doc: 'NFT collections as they are now, in the order of their first sighting.',
  endpoint: 'GET /nft/collections',
  walk: snapshot({ newer: 'last_transaction_lt' }),
  ignore: ['address_book', 'metadata'],
  tables: [
    table('nft_collections', {
      grain: 'one collection at one reading',
      record: 'NFTCollection',
      rows: { kind: 'records', path: '/nft_collections' },
      key: ['address', '_read_at'],
      sort: ['address'],
      columns: {
        address: field('/address', 'contract of the collection').bloomFilter(),
        owner_address: field('/owner_address', 'owner'),
        last_transaction_lt: field('/last_transaction_lt', 'logical time of its last transaction'),
        ...wideInteger('next_item_index', '/next_item_index', 'number of the next item, often -1'),
        collection_content: field('/collection_content', 'name and other facts, or the address of them'),
        data_hash: field('/data_hash', 'data of the contract'),
        code_hash: field('/code_hash', 'code of the contract'),
        ...reading(),
      },
    }),
  ],
});
