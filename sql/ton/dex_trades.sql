-- Trades on decentralized exchanges.
-- grain: one swap, whatever the number of pools it took
-- inputs: dex_swaps
-- file: prices
-- columns:
--   block_time TIMESTAMP: UTC time at which the trace ended
--   block_date DATE: UTC date at which the trace ended
--   tx_hash VARCHAR: first transaction that the source lists for the swap
--   trace_id VARCHAR: trace of the swap
--   project_type VARCHAR: always dex
--   project VARCHAR: exchange: ston.fi, dedust, tonco, coffee
--   version INTEGER: version of its contracts
--   event_time BIGINT (seconds): Unix time of the last transaction of the swap
--   event_type VARCHAR: always trade
--   trader_address VARCHAR: account that made the swap
--   pool_address VARCHAR: pool; null if it is not known (dex_swaps)
--   router_address VARCHAR: null
--   token_sold_address VARCHAR: token that the trader sold; TON is the wrapped token of the exchange, or the all-zero address
--   token_bought_address VARCHAR: token that the trader bought
--   amount_sold_raw DECIMAL(38,0): amount sold, in the smallest unit
--   amount_bought_raw DECIMAL(38,0): amount bought, in the smallest unit
--   referral_address VARCHAR: null
--   platform_tag VARCHAR: null
--   query_id DECIMAL(20,0): chosen by the trader
--   volume_usd DECIMAL(20,6): value of the traded TON in US dollars; null without TON, or without a price of the day
--   volume_ton DECIMAL(20,9): traded TON; null for a trade without TON
SELECT
  block_time,
  dex_swaps.block_date,
  tx_hash,
  trace_id,
  'dex' AS project_type,
  CASE project WHEN 'stonfi' THEN 'ston.fi' ELSE project END AS project,
  coalesce(version::INTEGER, CASE project WHEN 'dedust' THEN 2 ELSE 1 END) AS version,
  event_time,
  event_type,
  trader_address,
  pool_address,
  NULL::VARCHAR AS router_address,
  _ton_asset(token_sold_address, project, version) AS token_sold_address,
  _ton_asset(token_bought_address, project, version) AS token_bought_address,
  amount_sold_raw,
  amount_bought_raw,
  NULL::VARCHAR AS referral_address,
  NULL::VARCHAR AS platform_tag,
  query_id,
  TRY_CAST(nanotons * price_usd AS DECIMAL(20, 6)) AS volume_usd,
  TRY_CAST(ton(TRY_CAST(nanotons AS BIGINT)) AS DECIMAL(20, 9)) AS volume_ton
FROM (
  SELECT *, CASE
    WHEN token_sold_address LIKE '0:000000000000000%' THEN amount_sold_raw
    WHEN token_bought_address LIKE '0:000000000000000%' THEN amount_bought_raw END AS nanotons
  FROM main.dex_swaps
) AS dex_swaps
LEFT JOIN ton.prices_daily ON prices_daily.timestamp = dex_swaps.block_date
  AND prices_daily.token_address = '0:' || repeat('0', 64)
