-- transactions_daily against transactions.
-- rule: each day of the mart counts the transactions of that day; if not, run tonlake build
-- inputs: transactions, transactions_daily
SELECT block_date, mart.tx_count AS got, counted.tx_count AS expected
FROM (SELECT block_date, tx_count FROM transactions_daily) AS mart
FULL JOIN (SELECT block_date, count(*) AS tx_count FROM transactions GROUP BY block_date) AS counted USING (block_date)
WHERE mart.tx_count IS DISTINCT FROM counted.tx_count
  AND block_date NOT IN (SELECT block_date FROM _forgotten_days WHERE pipeline = 'transactions')
