-- How did the balance of an account change? Here every ten seconds, of an account that has a name.
SELECT time_bucket(INTERVAL 10 seconds, balances_history.block_time) AS time, domain, ton(max_by(amount, lt)) AS balance, count(*) AS changes
FROM balances_history
JOIN (SELECT address, domain FROM address_book WHERE domain = 'wallet-19.ton') AS named USING (address)
GROUP BY ALL
ORDER BY time
LIMIT 10
