-- What were NFTs sold for, and what was the floor of each collection?
SELECT
  block_date, friendly_address(collection_address) AS collection, sale_count, item_count, buyer_count, ton(volume) AS volume,
  ton(floor_price) AS floor, ton(top_price) AS top
FROM nft_sales_daily
ORDER BY block_date, volume DESC, collection_address
