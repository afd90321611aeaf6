-- Why did transactions fail, by the name of their exit code?
SELECT
  phase, coalesce(exit_code_name(compute_exit_code), skipped_reason) AS reason, compute_exit_code, action_result_code,
  sum(tx_count) AS transactions, ton(sum(total_fees)) AS fees
FROM failed_transactions_daily
GROUP BY ALL
ORDER BY transactions DESC, phase, compute_exit_code, action_result_code, reason
LIMIT 10
