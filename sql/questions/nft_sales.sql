-- What were NFTs sold for, and what was the floor of each collection?
SELECT
  block_date, friendly_address(collection_address) AS collection, sale_count, item_count, buyer_count, in_tokens(volume, 9) AS volume,
  in_tokens(floor_price, 9) AS floor, in_tokens(top_price, 9) AS top
FROM nft_sales_daily
ORDER BY block_date, volume DESC, collection_address
