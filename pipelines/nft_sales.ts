import { field, lookup, pipeline, reading, table } from 'tonlake/pipeline';

export default pipeline({
  name: 'nft_sales',
  doc: 'Sales and auctions of NFTs that are on sale; telemint items have their own address.',
  endpoint: 'GET /nft/sales',
  walk: lookup({
    keys: ['address'],
    columns: ['address'],
    isEachListed: true,
    batch: 100,
    query: `SELECT DISTINCT coalesce(sale_contract_address, auction_contract_address, address) AS address
    FROM nft_items WHERE on_sale`,
  }),
  needs: ['nft_items'],
  tables: [
    table('nft_sales', {
      grain: 'one sale, auction or telemint item at one reading',
      key: ['address', '_read_at'],
      columns: {
        address: field('/address', 'sale contract').bloomFilter(),
        type: field('/type', 'getgems_sale, getgems_auction, telemint'),
        nft_address: field('/nft_address', 'NFT item'),
        nft_owner_address: field('/nft_owner_address', 'seller'),
        marketplace_address: field('/marketplace_address', 'marketplace contract'),
        created_at: field('/created_at', 'time of creation'),
        last_transaction_lt: field('/last_transaction_lt', 'logical time of its last transaction'),
        code_hash: field('/code_hash', 'code hash of the contract'),
        data_hash: field('/data_hash', 'data hash of the contract'),
        is_complete: field('/details/is_complete', 'true if sold'),
        is_canceled: field('/details/is_canceled', 'true if canceled'),
        price: field('/details/full_price', 'price of a sale').unit('nanoton'),
        marketplace_fee_address: field('/details/marketplace_fee_address', 'recipient of the marketplace fee'),
        marketplace_fee: field('/details/marketplace_fee', 'marketplace fee').unit('nanoton'),
        royalty_address: field('/details/royalty_address', 'recipient of the royalty'),
        royalty_amount: field('/details/royalty_amount', 'royalty').unit('nanoton'),
        end_time: field('/details/end_time', 'end of an auction'),
        max_bid: field('/details/max_bid', 'bid that ends the auction at once').unit('nanoton'),
        min_bid: field('/details/min_bid', 'minimum bid').unit('nanoton'),
        last_bid_at: field('/details/last_bid_at', 'time of the last bid'),
        last_member: field('/details/last_member', 'last bidder'),
        details: field('/details', 'all details; the fields depend on the type').nullable(),
        nft_item: field('/nft_item', 'the NFT, as nft_items has it'),
        ...reading(),
      },
    }),
  ],
});
