-- Latest known balances.
-- grain: one account and asset
-- inputs: latest_balances
-- columns:
--   address VARCHAR: account address; for jettons, the owner
--   asset VARCHAR: TON, or the address of a jetton
--   amount DECIMAL(38,0): balance, in the smallest unit; null if it exceeds 38 digits
--   mintless_claimed BOOLEAN: false if an airdrop of the jetton has not been claimed yet, otherwise null
--   last_change_timestamp BIGINT (seconds): Unix time of the last change, if it is known
--   last_change_lt BIGINT (lt): logical time of the last change
SELECT address, asset, amount, mintless_claimed, last_change_timestamp, last_change_lt
FROM main.latest_balances
