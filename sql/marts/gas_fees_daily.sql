-- Fees of transactions and of the messages they sent, by day.
-- question: What did the network cost its users each day?
-- grain: one UTC day
-- key: block_date
-- inputs: transactions, messages
-- incremental: block_date
-- units: fees in nanotons, gas in units of gas
-- columns:
--   blockchain: always ton
--   block_date: UTC day of the transactions
--   gas_fees (nanoton): total_fees plus fwd_fees
--   total_fees (nanoton): fees collected by transactions
--   fwd_fees (nanoton): forward fees of the messages sent
--   storage_fees (nanoton): storage fees, included in total_fees
--   compute_fees (nanoton): gas fees, included in total_fees
--   gas_used (gas): gas used by all contracts, including system contracts, which pay nothing for it
WITH by_transaction AS (
  SELECT
    block_date,
    sum(total_fees) AS total_fees,
    coalesce(sum(storage_fees_collected), 0) AS storage_fees,
    coalesce(sum(gas_cost(compute_gas_used, compute_gas_fees)), 0) AS compute_fees,
    coalesce(sum(gas_units(compute_gas_used, compute_gas_fees)), 0) AS gas_used
  FROM transactions
  GROUP BY block_date
), by_message AS (
  SELECT block_date, sum(fwd_fee) AS fwd_fees
  FROM messages
  WHERE direction = 'out'
  GROUP BY block_date
)
SELECT
  'ton' AS blockchain,
  block_date,
  (total_fees + coalesce(fwd_fees, 0))::DECIMAL(38, 0) AS gas_fees,
  total_fees::DECIMAL(38, 0) AS total_fees,
  coalesce(fwd_fees, 0)::DECIMAL(38, 0) AS fwd_fees,
  storage_fees::DECIMAL(38, 0) AS storage_fees,
  compute_fees::DECIMAL(38, 0) AS compute_fees,
  gas_used::DECIMAL(38, 0) AS gas_used
FROM by_transaction LEFT JOIN by_message USING (block_date)
