-- Accounts by the number of their transactions.
-- question: Which accounts are the busiest?
-- grain: one account
-- key: account
-- inputs: transactions
-- units: fees in nanotons
-- columns:
--   account: raw address
--   transactions: number of transactions
--   failed: transactions that were aborted
--   total_fees (nanoton): fees of the transactions
SELECT
  account,
  count(*) AS transactions,
  count(*) FILTER (WHERE aborted) AS failed,
  sum(total_fees)::DECIMAL(38,0) AS total_fees
FROM transactions
GROUP BY account
