-- latest_balances against accounts.
-- rule: both marts tell the same TON balance of each account; tonlake mart build brings them up to date
-- inputs: accounts, latest_balances
SELECT address, latest.amount AS got, told.balance AS expected
FROM (SELECT address, amount FROM latest_balances WHERE asset = 'TON') AS latest
FULL JOIN (SELECT address, balance FROM accounts WHERE balance IS NOT NULL) AS told USING (address)
WHERE latest.amount IS DISTINCT FROM told.balance
