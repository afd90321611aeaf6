-- Every account that had a transaction.
-- question: What is an account, since when, and who paid for it first?
-- grain: one account
-- key: address
-- inputs: transactions, messages
-- optional: account_latest
-- units: balances in nanotons
-- columns:
--   address: the account
--   status: status after its last transaction: active, uninit, frozen, nonexist
--   last_tx_hash: its last transaction
--   last_tx_at: UTC time of its last transaction
--   balance (nanoton): balance after the last transaction for which the index knows it; 0 when the account was deleted
--   code_hash: code after the last transaction for which the index knows it
--   deployment_tx_hash: last transaction that made it active; null when that lies outside of the warehouse
--   deployment_at: UTC time of that transaction
--   deployment_by_external: whether an external message to the account did it
--   initial_funding_tx_hash: first transaction of the account that the warehouse holds
--   initial_funding_at: UTC time of that transaction
--   first_tx_sender: who sent the message of that transaction
--   tx_count: transactions that the warehouse holds
--   interfaces: JSON list of what the source takes it for, where account_latest was exported
WITH states AS (
  SELECT
    account AS address,
    arg_max(end_status, lt) AS status,
    arg_max(hash, lt) AS last_tx_hash,
    max(block_time) AS last_tx_at,
    arg_max(coalesce(account_state_balance_after, 0), lt)
      FILTER (account_state_balance_after IS NOT NULL OR end_status = 'nonexist') AS balance,
    arg_max(account_state_code_hash_after, lt) AS code_hash,
    arg_max(hash, lt) FILTER (end_status = 'active' AND orig_status <> 'active') AS deployment_tx_hash,
    arg_max(block_time, lt) FILTER (end_status = 'active' AND orig_status <> 'active') AS deployment_at,
    arg_max(hash = trace_id, lt) FILTER (end_status = 'active' AND orig_status <> 'active') AS deployment_by_external,
    arg_min(hash, lt) AS initial_funding_tx_hash,
    min(block_time) AS initial_funding_at,
    count(*) AS tx_count
  FROM transactions
  GROUP BY account
), newest AS (
  SELECT address, interfaces FROM account_latest
  QUALIFY row_number() OVER (PARTITION BY address ORDER BY _read_at DESC) = 1
)
SELECT
  states.address,
  status,
  last_tx_hash,
  last_tx_at,
  balance,
  code_hash,
  deployment_tx_hash,
  deployment_at,
  deployment_by_external,
  initial_funding_tx_hash,
  initial_funding_at,
  messages.source AS first_tx_sender,
  tx_count,
  interfaces
FROM states
LEFT JOIN messages ON messages.tx_hash = initial_funding_tx_hash AND messages.direction = 'in'
LEFT JOIN newest ON newest.address = states.address
