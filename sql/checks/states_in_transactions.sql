-- Account states and the transactions that left them.
-- rule: every account state has its transaction, with the same hash and balance
-- incremental: block_date
-- inputs: transactions, account_states
SELECT states.account, last_trans_lt, last_trans_hash, states.balance, account_state_balance_after
FROM account_states AS states
LEFT JOIN transactions ON transactions.hash = last_trans_hash
WHERE lt IS NULL OR lt <> last_trans_lt OR states.hash <> account_state_hash_after
  OR states.balance IS DISTINCT FROM account_state_balance_after
