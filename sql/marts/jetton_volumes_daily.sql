-- Transferred amounts of each jetton, by day.
-- question: How much of each jetton moved each day?
-- grain: one UTC day and jetton
-- key: block_date, jetton_master
-- inputs: jetton_transfers
-- incremental: block_date
-- units: amounts in the smallest unit of the jetton
-- columns:
--   block_date: UTC day of the transfer orders
--   jetton_master: address of the jetton
--   transfer_count: number of transfer orders
--   amount: sum of the transferred amounts; null if it exceeds 38 digits
--   amount_text: the same as text, with all digits
--   largest_amount: largest single transfer
SELECT
  block_date,
  jetton_master,
  count(*) AS transfer_count,
  try_exact_sum(amount) AS amount,
  exact_sum_text(amount) AS amount_text,
  max(amount) AS largest_amount
FROM jetton_transfers
WHERE NOT coalesce(tx_aborted, false)
GROUP BY block_date, jetton_master
