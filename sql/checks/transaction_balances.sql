-- Balances before and after a transaction.
-- rule: the balance after a transaction is the balance before, plus incoming value, minus fees and outgoing value
-- incremental: block_date
-- inputs: transactions, messages
WITH moved AS (
  SELECT
    tx_hash,
    sum(CASE direction WHEN 'in' THEN coalesce(value, 0) ELSE 0 END) AS received,
    sum(CASE direction WHEN 'out' THEN coalesce(value, 0)::HUGEINT + coalesce(fwd_fee, 0) + coalesce(ihr_fee, 0) ELSE 0 END) AS sent
  FROM messages
  GROUP BY tx_hash
)
SELECT * FROM (
  SELECT
    hash,
    account,
    account_state_balance_before::HUGEINT + coalesce(received, 0) - total_fees - coalesce(sent, 0) AS expected,
    account_state_balance_after AS got
  FROM transactions LEFT JOIN moved ON tx_hash = hash
  WHERE account_state_balance_before IS NOT NULL AND account_state_balance_after IS NOT NULL
)
WHERE expected <> got
