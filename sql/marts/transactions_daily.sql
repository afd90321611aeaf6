-- Transactions, and how they ended, by day.
-- question: How many transactions were there each day, of what kind, and how many failed?
-- grain: one UTC day
-- key: block_date
-- inputs: transactions
-- incremental: block_date
-- units: counts
-- columns:
--   blockchain: always ton
--   block_date: UTC day of the transactions
--   tx_count: transactions of any kind
--   ordinary_count: transactions that a message started
--   tick_tock_count: transactions of system contracts, which no message starts
--   aborted_count: ordinary transactions that were aborted
--   trace_count: traces with a transaction on that day
SELECT
  'ton' AS blockchain,
  block_date,
  count(*) AS tx_count,
  count(*) FILTER (descr = 'ord') AS ordinary_count,
  count(*) FILTER (descr = 'tick_tock') AS tick_tock_count,
  count(*) FILTER (descr = 'ord' AND aborted) AS aborted_count,
  count(DISTINCT trace_id) AS trace_count
FROM transactions
GROUP BY block_date
