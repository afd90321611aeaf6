-- How fast blocks come, by workchain and day.
-- question: How regularly were blocks made each day?
-- grain: one UTC day and workchain
-- key: block_date, workchain
-- inputs: blocks
-- incremental: block_date
-- units: seconds; milliseconds where the name says so
-- columns:
--   block_date: UTC day of the blocks
--   workchain: -1 is the masterchain, 0 the basechain
--   block_count: blocks
--   shard_count: shards that made blocks
--   tx_count: transactions in them
--   empty_count: blocks without a transaction
--   first_mc_seqno: first masterchain block that includes one of them
--   last_mc_seqno: last such masterchain block
--   mean_interval_ms: milliseconds from block to block of a shard, rounded down; null for a single block
--   median_interval (seconds): seconds from block to block of a shard that half of the blocks do not exceed
--   longest_interval (seconds): longest time from block to block of a shard
WITH gaps AS (
  SELECT *, gen_utime - lag(gen_utime) OVER (PARTITION BY block_date, workchain, shard ORDER BY seqno) AS gap
  FROM blocks
)
SELECT
  block_date,
  workchain,
  count(*) AS block_count,
  count(DISTINCT shard) AS shard_count,
  sum(tx_count)::BIGINT AS tx_count,
  count(*) FILTER (tx_count = 0) AS empty_count,
  min(mc_block_seqno) AS first_mc_seqno,
  max(mc_block_seqno) AS last_mc_seqno,
  (sum(gap) * 1000 // nullif(count(gap), 0))::BIGINT AS mean_interval_ms,
  quantile_disc(gap, 0.5) AS median_interval,
  max(gap) AS longest_interval
FROM gaps
GROUP BY block_date, workchain
