-- Which contracts were used most each day?
SELECT block_date, rank, friendly_address(account) AS contract, tx_count, aborted_count, gas_used, ton(total_fees) AS fees
FROM top_contracts_daily
WHERE rank <= 5
ORDER BY block_date, rank
