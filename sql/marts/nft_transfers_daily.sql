-- NFT transfers, by collection and day.
-- question: Which collections moved each day?
-- grain: one UTC day and collection
-- key: block_date, nft_collection_address
-- inputs: nft_transfers
-- incremental: block_date
-- units: counts
-- columns:
--   block_date: UTC day of the transfer orders
--   nft_collection_address: collection address; null for items without a collection
--   transfer_count: successful transfers
--   aborted_count: failed transfer orders
--   item_count: distinct items that changed owner
--   sender_count: distinct owners who sent an item
--   receiver_count: distinct owners who received an item
SELECT
  block_date,
  nullif(nft_collection_address, '') AS nft_collection_address,
  count(*) FILTER (WHERE NOT coalesce(tx_aborted, false)) AS transfer_count,
  count(*) FILTER (WHERE coalesce(tx_aborted, false)) AS aborted_count,
  count(DISTINCT nft_item_address) FILTER (WHERE NOT coalesce(tx_aborted, false)) AS item_count,
  count(DISTINCT old_owner) FILTER (WHERE NOT coalesce(tx_aborted, false)) AS sender_count,
  count(DISTINCT new_owner) FILTER (WHERE NOT coalesce(tx_aborted, false)) AS receiver_count
FROM nft_transfers
GROUP BY block_date, nullif(nft_collection_address, '')
