-- latest_balances against accounts.
-- rule: both marts have the same TON balance for each account; if not, run tonlake build
-- inputs: accounts, latest_balances
SELECT address, latest.amount AS got, told.balance AS expected
FROM (SELECT address, amount FROM latest_balances WHERE asset = 'TON') AS latest
FULL JOIN (SELECT address, balance FROM accounts WHERE balance IS NOT NULL) AS told USING (address)
WHERE latest.amount IS DISTINCT FROM told.balance
  AND (told.address IS NOT NULL OR NOT EXISTS (FROM _forgotten_days WHERE pipeline = 'transactions'))
