-- account, when it was last read
-- needs: account_latest
SELECT status, ton(balance) AS balance_ton, interfaces AS contract, code_hash,
  last_transaction_lt, _as_of_seqno AS at_block
FROM account_latest_now WHERE address = $thing
