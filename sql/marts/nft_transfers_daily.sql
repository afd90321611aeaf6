-- NFTs that changed hands, by collection and day.
-- question: Which collections moved each day?
-- grain: one UTC day and collection
-- key: block_date, nft_collection_address
-- inputs: nft_transfers
-- incremental: block_date
-- units: counts
-- columns:
--   block_date: UTC day of the transfer orders
--   nft_collection_address: collection; null for items without one
--   transfer_count: transfers that were done
--   aborted_count: orders that failed
--   item_count: items that changed hands
--   sender_count: owners who gave
--   receiver_count: owners who got
SELECT
  block_date,
  nullif(nft_collection_address, '') AS nft_collection_address,
  count(*) FILTER (NOT coalesce(tx_aborted, false)) AS transfer_count,
  count(*) FILTER (coalesce(tx_aborted, false)) AS aborted_count,
  count(DISTINCT nft_item_address) FILTER (NOT coalesce(tx_aborted, false)) AS item_count,
  count(DISTINCT old_owner) FILTER (NOT coalesce(tx_aborted, false)) AS sender_count,
  count(DISTINCT new_owner) FILTER (NOT coalesce(tx_aborted, false)) AS receiver_count
FROM nft_transfers
GROUP BY block_date, nullif(nft_collection_address, '')
