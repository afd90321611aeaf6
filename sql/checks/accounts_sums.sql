-- accounts against transactions.
-- rule: the mart has every account with a transaction, with the right number of transactions; if not, run tonlake build
-- inputs: transactions, accounts
SELECT address, mart.tx_count AS got, counted.tx_count AS expected
FROM (SELECT address, tx_count FROM accounts) AS mart
FULL JOIN (SELECT account AS address, count(*) AS tx_count FROM transactions GROUP BY ALL) AS counted USING (address)
WHERE mart.tx_count IS DISTINCT FROM counted.tx_count
