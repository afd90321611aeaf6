-- Amounts of each jetton that were transferred, by day.
-- question: How much of each jetton moved each day?
-- grain: one UTC day and jetton
-- key: block_date, jetton_master
-- inputs: jetton_transfers
-- incremental: block_date
-- units: amounts in the smallest unit of the jetton
-- columns:
--   block_date: UTC day of the transfer orders
--   jetton_master: jetton
--   transfer_count: transfer orders
--   amount: sum of their amounts; null beyond 38 digits
--   amount_text: the same as text, with all its digits
--   largest_amount: the largest of them
SELECT
  block_date,
  jetton_master,
  count(*) AS transfer_count,
  exact_sum(amount) AS amount,
  exact_sum_text(amount) AS amount_text,
  max(amount) AS largest_amount
FROM jetton_transfers
WHERE NOT coalesce(tx_aborted, false)
GROUP BY block_date, jetton_master
