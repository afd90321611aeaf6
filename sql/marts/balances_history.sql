-- The TON balance of every account after each of its transactions.
-- question: How much TON did an account hold at a given time?
-- grain: one account after one of its transactions, if the index knows the balance
-- key: block_date, lt, address
-- inputs: transactions
-- incremental: block_date
-- units: amounts in nanotons
-- columns:
--   address: account address
--   asset: always TON; the source has no history of jetton balances, see latest_balances
--   amount (nanoton): balance after the transaction; 0 if the account was deleted
--   mintless_claimed: always null for TON
--   timestamp (seconds): Unix time of the transaction
--   lt (lt): logical time of the transaction
--   block_time: UTC time of the transaction
--   block_date: UTC day of the transaction
SELECT
  account AS address,
  'TON' AS asset,
  coalesce(account_state_balance_after, 0)::DECIMAL(38, 0) AS amount,
  NULL::BOOLEAN AS mintless_claimed,
  now AS timestamp,
  lt,
  block_time,
  block_date
FROM transactions
WHERE account_state_balance_after IS NOT NULL OR end_status = 'nonexist'
