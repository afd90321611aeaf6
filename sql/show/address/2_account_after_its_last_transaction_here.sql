-- account, after its last transaction here
-- needs: transactions
SELECT end_status AS status, ton(account_state_balance_after) AS balance_ton,
  account_state_code_hash_after AS code_hash, lt AS last_transaction_lt, mc_block_seqno AS at_block,
  (SELECT count(*) FROM transactions WHERE account = $thing) AS transactions
FROM transactions WHERE account = $thing ORDER BY lt DESC LIMIT 1
