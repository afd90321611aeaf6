-- States of accounts.
-- grain: the state of one account after one transaction, if the index has more than its hash
-- inputs: account_states
-- columns:
--   account VARCHAR: account
--   hash VARCHAR: hash of the state
--   balance BIGINT (nanoton): balance
--   account_status VARCHAR: uninit, frozen, active
--   timestamp BIGINT (seconds): time of the transaction
--   last_trans_hash VARCHAR: hash of the transaction
--   last_trans_lt BIGINT (lt): logical time of the transaction
--   frozen_hash VARCHAR: hash of the frozen state
--   data_hash VARCHAR: hash of the data
--   code_hash VARCHAR: hash of the code
--   data_boc BLOB: data; not sent with transactions
--   code_boc BLOB: code; not sent with transactions
--   block_time TIMESTAMP: UTC time of timestamp
--   block_date DATE: UTC date of timestamp; the partition of the files
SELECT
  account,
  hash,
  balance,
  account_status,
  timestamp,
  last_trans_hash,
  last_trans_lt,
  frozen_hash,
  data_hash,
  code_hash,
  data_boc,
  code_boc,
  block_time,
  block_date
FROM main.account_states
