-- Latest known balances of every account.
-- question: How much TON and how much of each jetton does an account hold?
-- grain: one account and asset
-- key: address, asset
-- inputs: balances_history
-- optional: jetton_wallets
-- units: nanotons for TON, otherwise the smallest unit of the jetton
-- merge:
--   latest last_change_lt: amount, mintless_claimed, last_change_timestamp
-- columns:
--   address: account address; for jettons, the owner
--   asset: TON, or the address of a jetton
--   amount: balance; null if it exceeds 38 digits
--   mintless_claimed: false if an airdrop of the jetton has not been claimed yet, otherwise null
--   last_change_timestamp (Unix time): the last change; null for jettons, because their wallets only have the logical time
--   last_change_lt (lt): logical time of the last change
WITH ton AS (
  SELECT
    address,
    asset,
    arg_max(amount, lt) AS amount,
    NULL::BOOLEAN AS mintless_claimed,
    arg_max(timestamp, lt) AS last_change_timestamp,
    max(lt) AS last_change_lt
  FROM balances_history
  GROUP BY address, asset
), jettons AS (
  SELECT
    owner AS address,
    jetton AS asset,
    balance_decimal AS amount,
    CASE WHEN mintless_info IS NOT NULL THEN false END AS mintless_claimed,
    NULL::BIGINT AS last_change_timestamp,
    last_transaction_lt AS last_change_lt
  FROM jetton_wallets
  QUALIFY row_number() OVER (PARTITION BY owner, jetton ORDER BY _read_at DESC, last_transaction_lt DESC, address) = 1
)
SELECT * FROM ton UNION ALL SELECT * FROM jettons
