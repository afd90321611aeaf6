-- Logical times of an account.
-- rule: no two transactions of an account have the same logical time
-- incremental: block_date
-- inputs: transactions
SELECT account, lt, count(*) AS transactions FROM transactions GROUP BY account, lt HAVING count(*) > 1
