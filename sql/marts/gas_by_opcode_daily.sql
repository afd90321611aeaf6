-- Gas and fees by opcode of the message that started the transaction, by day.
-- question: Which operations cost how much gas each day?
-- grain: one UTC day and opcode
-- key: block_date, opcode
-- inputs: transactions, messages
-- incremental: block_date
-- units: fees in nanotons, gas in units of gas
-- columns:
--   block_date: UTC day of the transactions
--   opcode: first 32 bits of the body as a signed integer; null for shorter bodies, and for transactions without a message
--   opcode_name: name of the opcode; null if tonlake does not know it
--   tx_count: number of transactions
--   failed_count: transactions that were aborted
--   gas_used (gas): gas used
--   compute_fees (nanoton): gas fees
--   total_fees (nanoton): fees collected
WITH started AS (
  SELECT tx_hash, block_date, opcode FROM messages WHERE direction = 'in'
)
SELECT
  transactions.block_date,
  opcode,
  opcode_name(opcode) AS opcode_name,
  count(*) AS tx_count,
  count(*) FILTER (WHERE aborted) AS failed_count,
  coalesce(exact_sum(gas_units(compute_gas_used, compute_gas_fees)), 0)::DECIMAL(38, 0) AS gas_used,
  coalesce(exact_sum(gas_cost(compute_gas_used, compute_gas_fees)), 0)::DECIMAL(38, 0) AS compute_fees,
  coalesce(exact_sum(total_fees), 0)::DECIMAL(38, 0) AS total_fees
FROM transactions
LEFT JOIN started ON tx_hash = hash AND started.block_date = transactions.block_date
GROUP BY transactions.block_date, opcode
