-- The 100 accounts with the most transactions, by day.
-- question: Which contracts were used most each day?
-- grain: one UTC day and rank
-- key: block_date, rank
-- inputs: transactions
-- incremental: block_date
-- units: fees in nanotons, gas in units of gas
-- columns:
--   block_date: UTC day of the transactions
--   rank: from 1, by number of transactions, then by address
--   account: address of the contract
--   code_hash: code hash after the last transaction of that day whose code is known
--   tx_count: number of transactions
--   aborted_count: aborted transactions
--   gas_used (gas): gas used
--   total_fees (nanoton): fees collected
WITH by_account AS (
  SELECT
    block_date,
    account,
    arg_max(account_state_code_hash_after, lt) AS code_hash,
    count(*) AS tx_count,
    count(*) FILTER (WHERE aborted) AS aborted_count,
    coalesce(sum(gas_units(compute_gas_used, compute_gas_fees)), 0) AS gas_used,
    sum(total_fees) AS total_fees
  FROM transactions
  GROUP BY block_date, account
)
SELECT
  block_date,
  row_number() OVER (PARTITION BY block_date ORDER BY tx_count DESC, account) AS rank,
  account,
  code_hash,
  tx_count,
  aborted_count,
  gas_used::DECIMAL(38, 0) AS gas_used,
  total_fees::DECIMAL(38, 0) AS total_fees
FROM by_account
QUALIFY rank <= 100
