-- Transfers of each jetton, by day.
-- question: Which jettons moved each day, and between how many people?
-- grain: one UTC day and jetton
-- key: block_date, jetton_master
-- inputs: jetton_transfers
-- incremental: block_date
-- units: counts
-- columns:
--   block_date: UTC day of the transfer orders
--   jetton_master: jetton
--   transfer_count: transfer orders
--   sender_count: owners who sent
--   receiver_count: owners who received
--   trace_count: traces with such a transfer
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
