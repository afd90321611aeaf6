import { field, pipeline, reading, snapshot, table, wideInteger } from 'tonlake/pipeline';

export default pipeline({
  name: 'nft_collections',
  doc: 'Current state of all NFT collections, in the order the index discovered them.',
  endpoint: 'GET /nft/collections',
  walk: snapshot({ newer: 'last_transaction_lt' }),
  tables: [
    table('nft_collections', {
      grain: 'one collection at one reading',
      key: ['address', '_read_at'],
      columns: {
        address: field('/address', 'collection').bloomFilter(),
        owner_address: field('/owner_address', 'owner'),
        last_transaction_lt: field('/last_transaction_lt', 'logical time of its last transaction'),
        ...wideInteger('next_item_index', '/next_item_index', 'index of the next item, often -1', 'id'),
        collection_content: field('/collection_content', 'name and other metadata, or its URI'),
        data_hash: field('/data_hash', 'data hash of the contract'),
        code_hash: field('/code_hash', 'code hash of the contract'),
        ...reading(),
      },
    }),
  ],
});
