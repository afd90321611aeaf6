-- Time between blocks, by workchain and day.
-- question: How regularly were blocks produced each day?
-- grain: one UTC day and workchain
-- key: block_date, workchain
-- inputs: blocks
-- incremental: block_date
-- units: seconds; milliseconds in columns that end in _ms
-- columns:
--   block_date: UTC day of the blocks
--   workchain: -1 is the masterchain, 0 the basechain
--   block_count: number of blocks
--   shard_count: shards that produced blocks
--   tx_count: transactions in these blocks
--   empty_count: blocks without a transaction
--   first_mc_seqno: first masterchain block that includes one of them
--   last_mc_seqno: last such masterchain block
--   mean_interval_ms: mean time between consecutive blocks of a shard, in milliseconds, rounded down; null for a single block
--   median_interval (seconds): median time between consecutive blocks of a shard
--   longest_interval (seconds): longest time between consecutive blocks of a shard
WITH gaps AS (
  -- The block before is another one after a split or merge, and where blocks are missing.
  SELECT *, CASE WHEN seqno = lag(seqno) OVER own + 1 THEN gen_utime - lag(gen_utime) OVER own END AS gap
  FROM blocks
  WINDOW own AS (PARTITION BY block_date, workchain, shard ORDER BY seqno)
)
SELECT
  block_date,
  workchain,
  count(*) AS block_count,
  count(DISTINCT shard) AS shard_count,
  sum(tx_count)::BIGINT AS tx_count,
  count(*) FILTER (WHERE tx_count = 0) AS empty_count,
  min(mc_block_seqno) AS first_mc_seqno,
  max(mc_block_seqno) AS last_mc_seqno,
  (sum(gap) * 1000 // nullif(count(gap), 0))::BIGINT AS mean_interval_ms,
  quantile_disc(gap, 0.5) AS median_interval,
  max(gap) AS longest_interval
FROM gaps
GROUP BY block_date, workchain
