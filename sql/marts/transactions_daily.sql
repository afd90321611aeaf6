-- Transactions and their outcomes, by day.
-- question: How many transactions were there each day, of which kind, and how many failed?
-- grain: one UTC day
-- key: block_date
-- inputs: transactions
-- incremental: block_date
-- units: counts
-- columns:
--   blockchain: always ton
--   block_date: UTC day of the transactions
--   tx_count: all transactions
--   ordinary_count: transactions started by a message
--   tick_tock_count: transactions of system contracts, started without a message
--   aborted_count: ordinary transactions that were aborted
--   trace_count: traces with at least one transaction on that day
SELECT
  'ton' AS blockchain,
  block_date,
  count(*) AS tx_count,
  count(*) FILTER (WHERE descr = 'ord') AS ordinary_count,
  count(*) FILTER (WHERE descr = 'tick_tock') AS tick_tock_count,
  count(*) FILTER (WHERE descr = 'ord' AND aborted) AS aborted_count,
  count(DISTINCT trace_id) AS trace_count
FROM transactions
GROUP BY block_date
