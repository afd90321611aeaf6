-- Balances after each change.
-- grain: one account and asset after one change
-- inputs: balances_history
-- columns:
--   address VARCHAR: account address; for jettons, the owner
--   asset VARCHAR: TON, or the address of a jetton
--   amount DECIMAL(38,0): balance, in the smallest unit
--   mintless_claimed BOOLEAN: null
--   timestamp BIGINT (seconds): Unix time of the change
--   lt BIGINT (lt): logical time of the change
--   block_time TIMESTAMP: UTC time of the change
--   block_date DATE: UTC date of the change
SELECT address, asset, amount, mintless_claimed, timestamp, lt, block_time, block_date
FROM main.balances_history
