-- Gas and fees by the code of contracts, by day.
-- question: Which contracts used how much gas each day?
-- grain: one UTC day and code hash
-- key: block_date, code_hash
-- inputs: transactions
-- incremental: block_date
-- units: fees in nanotons, gas in units of gas
-- columns:
--   block_date: UTC day of the transactions
--   code_hash: hash of the code that ran, as far as it is known
--   account_count: accounts with that code and a transaction
--   tx_count: number of transactions
--   gas_used (gas): gas used
--   total_fees (nanoton): fees collected
SELECT
  block_date,
  coalesce(account_state_code_hash_before, account_state_code_hash_after) AS code_hash,
  count(DISTINCT account) AS account_count,
  count(*) AS tx_count,
  coalesce(exact_sum(gas_units(compute_gas_used, compute_gas_fees)), 0)::DECIMAL(38, 0) AS gas_used,
  coalesce(exact_sum(total_fees), 0)::DECIMAL(38, 0) AS total_fees
FROM transactions
GROUP BY ALL
