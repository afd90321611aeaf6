import { field, fromParent, lookup, pipeline, rawAddress, reading, table, text } from 'tonlake/pipeline';

export default pipeline({
  name: 'token_metadata',
  doc: 'Metadata of token contracts in the transfers: names, symbols, images. Other contracts have no row.',
  endpoint: 'GET /metadata',
  walk: lookup({
    keys: ['address'],
    columns: ['address'],
    hasOthers: true,
    isEachListed: true,
    batch: 100,
    query: `SELECT DISTINCT unnest([jetton_master, jetton_wallet]) AS address FROM jetton_transfers
    UNION SELECT DISTINCT unnest([nft_item_address, nft_collection_address]) FROM nft_transfers`,
  }),
  needs: ['jetton_transfers', 'nft_transfers'],
  tables: [
    table('token_metadata', {
      grain: 'one token contract at one reading',
      key: ['address', '_read_at'],
      columns: {
        address: rawAddress('/key', 'token contract; may be one that was not requested').bloomFilter(),
        is_indexed: field('/value/is_indexed', 'true if its metadata was fetched'),
        token_info: field('/value/token_info', 'metadata; also as rows of token_info'),
        ...reading(),
      },
    }),
    table('token_info', {
      grain: 'one role of a token contract at one reading',
      record: 'TokenInfo',
      rows: { kind: 'nested', of: 'token_metadata', places: [{ path: '/value/token_info', count: 'many', label: '' }] },
      key: ['address', 'type', '_read_at'],
      columns: {
        address: fromParent('raw-address', 'address', 'token contract').bloomFilter(),
        type: field('/type', 'nft_items, nft_collections, jetton_masters, jetton_wallets'),
        valid: field('/valid', 'true if the metadata is valid'),
        name: field('/name', 'name'),
        symbol: field('/symbol', 'symbol'),
        description: field('/description', 'description'),
        image: field('/image', 'URL of an image'),
        nft_index: text('/nft_index', 'index in its collection, decimal').nullable(),
        is_nsfw: field('/is_nsfw', 'true if marked as not safe for work'),
        is_scam: field('/is_scam', 'true if marked as a scam'),
        extra: field('/extra', 'other metadata provided by the issuer'),
        _read_at: fromParent('timestamp', '_read_at', 'UTC time when the reading began'),
        _as_of_seqno: fromParent('int32', '_as_of_seqno', 'latest masterchain block when the reading began'),
      },
    }),
  ],
});
