-- accounts against transactions.
-- rule: every account with a transaction is in the mart, with as many as it has; tonlake mart build brings it up to date
-- inputs: transactions, accounts
SELECT address, mart.tx_count AS got, counted.tx_count AS expected
FROM (SELECT address, tx_count FROM accounts) AS mart
FULL JOIN (SELECT account AS address, count(*) AS tx_count FROM transactions GROUP BY ALL) AS counted USING (address)
WHERE mart.tx_count IS DISTINCT FROM counted.tx_count
