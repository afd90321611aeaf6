-- gas_fees_daily against transactions and messages.
-- rule: each day of the mart has the fees of that day's transactions; if not, run tonlake build
-- inputs: transactions, gas_fees_daily
SELECT block_date, mart.total_fees AS got, counted.total_fees AS expected
FROM (SELECT block_date, total_fees FROM gas_fees_daily) AS mart
FULL JOIN (SELECT block_date, sum(total_fees)::DECIMAL(38, 0) AS total_fees FROM transactions GROUP BY block_date) AS counted
  USING (block_date)
WHERE mart.total_fees IS DISTINCT FROM counted.total_fees
  AND block_date NOT IN (SELECT block_date FROM _forgotten_days WHERE pipeline = 'transactions')
