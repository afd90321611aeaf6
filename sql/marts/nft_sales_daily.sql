-- Sales of NFTs, by collection and day.
-- question: How many NFTs were sold each day, for how much, and what was the floor?
-- grain: one UTC day and collection
-- key: block_date, collection_address
-- inputs: actions
-- incremental: block_date
-- units: prices in nanotons
-- columns:
--   block_date: UTC day on which the trace of the sale ended
--   collection_address: collection; null for items without one
--   sale_count: completed sales
--   item_count: distinct NFTs that were sold
--   buyer_count: distinct buyers
--   volume (nanoton): sum of the prices; null above 38 digits
--   floor_price (nanoton): lowest price
--   top_price (nanoton): highest price
SELECT
  block_date,
  nft_collection AS collection_address,
  count(*) AS sale_count,
  count(DISTINCT nft_item) AS item_count,
  count(DISTINCT new_owner) AS buyer_count,
  try_exact_sum(price) AS volume,
  min(price) AS floor_price,
  max(price) AS top_price
FROM actions
WHERE is_purchase AND success AND price IS NOT NULL
GROUP BY block_date, nft_collection
