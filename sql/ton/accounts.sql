-- Accounts with at least one transaction.
-- grain: one account
-- inputs: accounts
-- columns:
--   address VARCHAR: account address
--   status VARCHAR: status after its last transaction: active, uninit, frozen, nonexist
--   last_tx_hash VARCHAR: hash of its last transaction
--   last_tx_at TIMESTAMP: UTC time of its last transaction
--   balance BIGINT (nanoton): balance after the last transaction whose balance is known; 0 if the account was deleted
--   code_hash VARCHAR: code hash after the last transaction whose code is known
--   deployment_tx_hash VARCHAR: hash of the last transaction that made it active
--   deployment_at TIMESTAMP: UTC time of that transaction
--   deployment_by_external BOOLEAN: true if an external message to the account triggered the deployment
--   initial_funding_tx_hash VARCHAR: hash of the account's first transaction in the warehouse
--   initial_funding_at TIMESTAMP: UTC time of that transaction
--   first_tx_sender VARCHAR: sender of the message that started that transaction
--   interfaces VARCHAR[]: interfaces of the account; empty if account_latest was not exported
SELECT
  address,
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
  first_tx_sender,
  coalesce(from_json(interfaces, '["VARCHAR"]'), []) AS interfaces
FROM main.accounts
