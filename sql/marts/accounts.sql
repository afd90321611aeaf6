-- All accounts with at least one transaction.
-- question: What is an account, when did it appear, and who funded it first?
-- grain: one account
-- key: address
-- inputs: transactions, messages
-- optional: account_latest
-- units: balances in nanotons
-- merge:
--   latest last_tx_lt: status, last_tx_hash, last_tx_at, interfaces
--   latest balance_lt: balance
--   latest code_lt: code_hash
--   latest deployment_lt: deployment_tx_hash, deployment_at, deployment_by_external
--   earliest initial_funding_lt: initial_funding_tx_hash, initial_funding_at, first_tx_sender
--   sum: tx_count
-- columns:
--   address: account address
--   status: status after its last transaction: active, uninit, frozen, nonexist
--   last_tx_hash: hash of its last transaction
--   last_tx_at: UTC time of its last transaction
--   balance (nanoton): balance after the last transaction whose balance the index knows; 0 if the account was deleted
--   code_hash: code hash after the last transaction whose code the index knows
--   deployment_tx_hash: hash of the last transaction that made it active; null if the warehouse does not have it
--   deployment_at: UTC time of that transaction
--   deployment_by_external: true if an external message to the account triggered the deployment
--   initial_funding_tx_hash: hash of the account's first transaction in the warehouse
--   initial_funding_at: UTC time of that transaction
--   first_tx_sender: sender of the message that started that transaction
--   tx_count: number of its transactions in the warehouse
--   interfaces: JSON list of interfaces that the source detected; needs account_latest
--   last_tx_lt (lt): logical time of its last transaction
--   balance_lt (lt): logical time of the last transaction whose balance the index knows
--   code_lt (lt): logical time of the last transaction whose code the index knows
--   deployment_lt (lt): logical time of the last transaction that made it active
--   initial_funding_lt (lt): logical time of the account's first transaction in the warehouse
WITH states AS (
  SELECT
    account AS address,
    arg_max(end_status, lt) AS status,
    arg_max(hash, lt) AS last_tx_hash,
    max(block_time) AS last_tx_at,
    arg_max(coalesce(account_state_balance_after, 0), lt)
      FILTER (WHERE account_state_balance_after IS NOT NULL OR end_status = 'nonexist') AS balance,
    arg_max(account_state_code_hash_after, lt) AS code_hash,
    arg_max(hash, lt) FILTER (WHERE end_status = 'active' AND orig_status <> 'active') AS deployment_tx_hash,
    arg_max(block_time, lt) FILTER (WHERE end_status = 'active' AND orig_status <> 'active') AS deployment_at,
    arg_max(hash = trace_id, lt) FILTER (WHERE end_status = 'active' AND orig_status <> 'active') AS deployment_by_external,
    arg_min(hash, lt) AS initial_funding_tx_hash,
    min(block_time) AS initial_funding_at,
    count(*) AS tx_count,
    max(lt) AS last_tx_lt,
    max(lt) FILTER (WHERE account_state_balance_after IS NOT NULL OR end_status = 'nonexist') AS balance_lt,
    max(lt) FILTER (WHERE account_state_code_hash_after IS NOT NULL) AS code_lt,
    max(lt) FILTER (WHERE end_status = 'active' AND orig_status <> 'active') AS deployment_lt,
    min(lt) AS initial_funding_lt
  FROM transactions
  GROUP BY account
), senders AS (
  -- One row per account: a join with the messages themselves would hold all of them in memory.
  SELECT destination AS address, min(tx_lt) AS lt, arg_min(source, tx_lt) AS sender
  FROM messages
  WHERE direction = 'in' AND source IS NOT NULL
  GROUP BY destination
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
  sender AS first_tx_sender,
  tx_count,
  interfaces,
  last_tx_lt,
  balance_lt,
  code_lt,
  deployment_lt,
  initial_funding_lt
FROM states
LEFT JOIN senders ON senders.address = states.address AND senders.lt = initial_funding_lt
LEFT JOIN newest ON newest.address = states.address
