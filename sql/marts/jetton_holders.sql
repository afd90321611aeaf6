-- Who holds which jetton, as of the newest reading.
-- question: Who are the holders of a jetton, and how much do they hold?
-- grain: one jetton wallet that holds something
-- key: jetton_wallet
-- inputs: jetton_wallets
-- units: amounts in the smallest unit of the jetton
-- columns:
--   jetton_master: jetton
--   owner: who holds it
--   jetton_wallet: contract that holds it for the owner
--   amount: what the wallet says it holds; null beyond 38 digits
--   amount_text: the same as text, with all its digits
--   rank: from 1 within the jetton, the largest first
--   last_change_lt (lt): logical time of the wallet’s last transaction
--   read_at: UTC time of the reading
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
