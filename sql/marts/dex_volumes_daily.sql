-- Volumes of decentralized exchanges, by pool, pair of tokens and day.
-- question: How much was swapped each day, in which pools and pairs?
-- grain: one UTC day, exchange, pool and pair of tokens
-- key: block_date, project, version, pool_address, token_0, token_1
-- inputs: dex_swaps
-- optional: token_info
-- incremental: block_date
-- units: amounts in whole tokens, by the decimals of their metadata (9 if they say none)
-- columns:
--   block_date: UTC day on which the traces of the swaps ended
--   project: exchange
--   version: version of the exchange's contracts; null if the source does not say
--   pool_address: pool; null if it is not known (dex_swaps)
--   token_0: token with the smaller address; the all-zero address is TON
--   token_1: the other token
--   swap_count: number of swaps
--   trader_count: distinct traders
--   volume_0: amount of token_0 that was sold or bought, as text with 9 digits after the point, rounded down; null above 29 digits before it
--   volume_1: the same of token_1
--   raw_volume_0: volume_0 in the smallest unit; null above 38 digits
--   raw_volume_1: volume_1 in the smallest unit; null above 38 digits
WITH metadata AS (
  SELECT address, coalesce(TRY_CAST(json_extract_string(TRY_CAST(extra AS JSON), '$.decimals') AS INTEGER), 9) AS decimals
  FROM token_info WHERE type = 'jetton_masters'
  QUALIFY row_number() OVER (PARTITION BY address ORDER BY _read_at DESC) = 1
), swaps AS (
  SELECT
    block_date, project, version, pool_address, trader_address,
    least(token_sold_address, token_bought_address) AS token_0,
    greatest(token_sold_address, token_bought_address) AS token_1,
    CASE WHEN token_sold_address <= token_bought_address THEN amount_sold_raw ELSE amount_bought_raw END AS amount_0,
    CASE WHEN token_sold_address <= token_bought_address THEN amount_bought_raw ELSE amount_sold_raw END AS amount_1
  FROM dex_swaps
), sums AS (
  SELECT
    block_date, project, version, pool_address, token_0, token_1,
    count(*) AS swap_count,
    count(DISTINCT trader_address) AS trader_count,
    try_exact_sum(amount_0) AS raw_volume_0,
    try_exact_sum(amount_1) AS raw_volume_1
  FROM swaps
  GROUP BY block_date, project, version, pool_address, token_0, token_1
)
SELECT
  block_date, project, version, pool_address, token_0, token_1, swap_count, trader_count,
  in_tokens(raw_volume_0, coalesce(of_0.decimals, 9))::VARCHAR AS volume_0,
  in_tokens(raw_volume_1, coalesce(of_1.decimals, 9))::VARCHAR AS volume_1,
  raw_volume_0,
  raw_volume_1
FROM sums
LEFT JOIN metadata AS of_0 ON of_0.address = token_0
LEFT JOIN metadata AS of_1 ON of_1.address = token_1
