-- Pools of decentralized exchanges that had a trade.
-- grain: one pool
-- inputs: dex_swaps
-- columns:
--   block_time TIMESTAMP: UTC time of its last trade
--   block_date DATE: UTC date of its last trade
--   pool VARCHAR: address of the pool
--   project VARCHAR: exchange, as in dex_trades
--   version INTEGER: version of its contracts
--   discovered_at INTEGER (seconds): Unix time of its first trade in the warehouse
--   jetton_left VARCHAR: the token with the smaller address
--   jetton_right VARCHAR: the other token
--   reserves_left DECIMAL(38,0): null: the source has no reserves
--   reserves_right DECIMAL(38,0): null: the source has no reserves
--   total_supply DECIMAL(38,0): null: the source has no supply of pool tokens by pool
--   tvl_usd DECIMAL(20,6): null
--   tvl_ton DECIMAL(20,9): null
--   last_updated INTEGER (seconds): Unix time of its last trade
--   is_liquid BOOLEAN: true if one of the tokens is TON
--   lp_fee DECIMAL(12,10): null
--   protocol_fee DECIMAL(12,10): null
--   referral_fee DECIMAL(12,10): null
SELECT
  max(block_time) AS block_time,
  max(block_date) AS block_date,
  pool_address AS pool,
  any_value(CASE project WHEN 'stonfi' THEN 'ston.fi' ELSE project END) AS project,
  any_value(coalesce(version::INTEGER, CASE project WHEN 'dedust' THEN 2 ELSE 1 END)) AS version,
  min(event_time)::INTEGER AS discovered_at,
  any_value(least(_ton_asset(token_sold_address, project, version), _ton_asset(token_bought_address, project, version))) AS jetton_left,
  any_value(greatest(_ton_asset(token_sold_address, project, version), _ton_asset(token_bought_address, project, version))) AS jetton_right,
  NULL::DECIMAL(38, 0) AS reserves_left,
  NULL::DECIMAL(38, 0) AS reserves_right,
  NULL::DECIMAL(38, 0) AS total_supply,
  NULL::DECIMAL(20, 6) AS tvl_usd,
  NULL::DECIMAL(20, 9) AS tvl_ton,
  max(event_time)::INTEGER AS last_updated,
  bool_or(token_sold_address LIKE '0:000000000000000%' OR token_bought_address LIKE '0:000000000000000%') AS is_liquid,
  NULL::DECIMAL(12, 10) AS lp_fee,
  NULL::DECIMAL(12, 10) AS protocol_fee,
  NULL::DECIMAL(12, 10) AS referral_fee
FROM main.dex_swaps
WHERE pool_address IS NOT NULL
GROUP BY pool_address
