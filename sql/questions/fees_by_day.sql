-- What did the network cost its users each day?
SELECT block_date, ton(gas_fees) AS fees, ton(fwd_fees) AS of_forwarding, ton(storage_fees) AS of_storage, ton(compute_fees) AS of_gas, gas_used
FROM gas_fees_daily
ORDER BY block_date
