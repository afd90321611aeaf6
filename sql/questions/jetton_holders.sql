-- How did the holders of each jetton change from day to day?
SELECT block_date, symbol, name, holder_count, joined_count, left_count, in_tokens(amount, coalesce(decimals, 9)) AS held
FROM jetton_holders_daily
LEFT JOIN ton.jetton_metadata ON jetton_metadata.address = jetton_master
ORDER BY jetton_master, block_date
