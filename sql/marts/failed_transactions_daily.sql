-- Failed transactions, by phase, exit code and day.
-- question: Why did transactions fail each day?
-- grain: one UTC day, phase, reason, exit code and result code
-- key: block_date, phase, skipped_reason, compute_exit_code, action_result_code
-- inputs: transactions
-- incremental: block_date
-- units: fees in nanotons
-- columns:
--   block_date: UTC day of the transactions
--   phase: skipped: the contract did not run; compute: it threw an exception; action: one of its actions could not be executed
--   skipped_reason: why the contract did not run: no_state, bad_state, no_gas, suspended
--   compute_exit_code: exit code of the contract; null if it did not run
--   action_result_code: result code of the action phase; null if it was not reached
--   tx_count: number of transactions
--   account_count: distinct accounts
--   total_fees (nanoton): fees charged for them despite the failure
SELECT
  block_date,
  CASE WHEN compute_skipped THEN 'skipped' WHEN compute_success THEN 'action' ELSE 'compute' END AS phase,
  skipped_reason,
  compute_exit_code,
  action_result_code,
  count(*) AS tx_count,
  count(DISTINCT account) AS account_count,
  sum(total_fees)::DECIMAL(38, 0) AS total_fees
FROM transactions
WHERE descr = 'ord' AND (aborted OR NOT compute_success OR NOT action_success)
GROUP BY block_date, phase, skipped_reason, compute_exit_code, action_result_code
