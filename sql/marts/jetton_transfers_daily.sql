-- Transfers of each jetton, by day.
-- question: Which jettons moved each day, and between how many owners?
-- grain: one UTC day and jetton
-- key: block_date, jetton_master
-- inputs: jetton_transfers
-- incremental: block_date
-- units: counts
-- columns:
--   block_date: UTC day of the transfer orders
--   jetton_master: address of the jetton
--   transfer_count: number of transfer orders
--   sender_count: distinct owners who sent the jetton
--   receiver_count: distinct owners who received the jetton
--   trace_count: traces with at least one such transfer
SELECT
  block_date,
  jetton_master,
  count(*) AS transfer_count,
  count(DISTINCT source) AS sender_count,
  count(DISTINCT destination) AS receiver_count,
  count(DISTINCT trace_id) AS trace_count
FROM jetton_transfers
WHERE NOT coalesce(tx_aborted, false)
GROUP BY block_date, jetton_master
