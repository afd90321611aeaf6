-- transaction
-- needs: transactions
SELECT account, block_time AS time, lt, hash, descr AS kind, ton(total_fees) AS fees_ton,
  CASE WHEN NOT compute_success THEN concat_ws(' ', compute_exit_code, exit_code_name(compute_exit_code)) END AS exit_code,
  ton(account_state_balance_before) AS balance_before_ton, ton(account_state_balance_after) AS balance_after_ton,
  gas_units(compute_gas_used, compute_gas_fees) AS gas_used, mc_block_seqno, trace_id
FROM transactions WHERE hash = $thing
