-- How much was swapped on which exchange, by pool and pair of tokens?
SELECT
  block_date, project, friendly_address(pool_address) AS pool, coalesce(of_0.symbol, 'TON') AS token_0,
  coalesce(of_1.symbol, 'TON') AS token_1, swap_count, trader_count, volume_0, volume_1
FROM dex_volumes_daily
LEFT JOIN ton.jetton_metadata AS of_0 ON of_0.address = dex_volumes_daily.token_0
LEFT JOIN ton.jetton_metadata AS of_1 ON of_1.address = dex_volumes_daily.token_1
ORDER BY block_date, project, token_0, token_1, pool_address
