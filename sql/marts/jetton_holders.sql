-- Holders of each jetton, as of the latest snapshot.
-- question: Who are the holders of a jetton, and how much do they hold?
-- grain: one jetton wallet with a non-zero balance
-- key: jetton_wallet
-- inputs: jetton_wallets
-- units: amounts in the smallest unit of the jetton
-- columns:
--   jetton_master: address of the jetton
--   owner: owner of the wallet
--   jetton_wallet: contract that holds the jettons for the owner
--   amount: balance that the wallet reports; null if it exceeds 38 digits
--   amount_text: the same as text, with all digits
--   rank: rank within the jetton; 1 is the largest holder
--   last_change_lt (lt): logical time of the wallet's last transaction
--   read_at: UTC time at which the wallet was read
WITH newest AS (
  SELECT * FROM jetton_wallets
  QUALIFY row_number() OVER (PARTITION BY address ORDER BY _read_at DESC) = 1
)
SELECT
  jetton AS jetton_master,
  owner,
  address AS jetton_wallet,
  balance_decimal AS amount,
  balance AS amount_text,
  row_number() OVER (PARTITION BY jetton ORDER BY length(balance) DESC, balance DESC, address) AS rank,
  last_transaction_lt AS last_change_lt,
  _read_at AS read_at
FROM newest
WHERE balance <> '0' AND balance NOT LIKE '-%'
