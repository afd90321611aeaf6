-- account, after its last transaction here
-- needs: transactions
SELECT unnest(last), transactions FROM (
  SELECT arg_max({
      status: end_status, balance_ton: ton(account_state_balance_after), code_hash: account_state_code_hash_after,
      last_transaction_lt: lt, at_block: mc_block_seqno
    }, lt) AS last, count(*) AS transactions
  FROM transactions WHERE account = $thing
) WHERE transactions > 0
