-- Which operations cost the most gas?
SELECT
  opcode_label(opcode) AS operation, sum(tx_count) AS transactions, sum(failed_count) AS failed, sum(gas_used) AS gas,
  ton(sum(compute_fees)) AS gas_fees
FROM gas_by_opcode_daily
WHERE opcode IS NOT NULL
GROUP BY ALL
ORDER BY gas_fees DESC, operation
LIMIT 10
