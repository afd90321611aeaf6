-- The newest block of every shard at each masterchain block, derived from the block headers.
-- question: Which block of each shard did a masterchain block know, and up to which logical time were all shards known?
-- grain: the newest block of one shard as of a masterchain block; without a new block it repeats the one before; shards whose newest block lies before the stored headers, or among missing ones, have no row
-- key: mc_seqno, workchain, shard
-- inputs: blocks
-- incremental: block_date
-- before: 200
-- units: logical times; seconds in gen_utime
-- columns:
--   mc_seqno: masterchain block whose state this is
--   workchain: -1 is the masterchain, 0 the basechain
--   shard: shard of the block
--   seqno: sequence number within the shard
--   mc_block_seqno: masterchain block that includes this block
--   root_hash: root cell hash of the block
--   gen_utime (seconds): time of the block
--   start_lt (lt): first logical time of the block
--   end_lt (lt): last logical time of the block; the least of a state bounds what is in masterchain blocks up to mc_seqno
--   block_time: UTC time of the masterchain block
--   block_date: UTC day of the masterchain block
WITH masterchain AS (
  -- In consecutive masterchain blocks, seqno and row number differ by the same number.
  SELECT seqno AS mc_seqno, block_time, block_date, seqno - row_number() OVER (ORDER BY seqno) AS run
  FROM blocks WHERE workchain = -1
), runs AS (
  -- Blocks that are missing may have replaced any of the older ones.
  SELECT mc_seqno, max(mc_seqno) OVER (PARTITION BY run) AS last FROM masterchain
), links AS (
  SELECT
    mc_block_seqno, (prev_blocks->>'$[0].workchain')::INTEGER AS workchain, prev_blocks->>'$[0].shard' AS hex_shard,
    (prev_blocks->>'$[0].seqno')::INTEGER AS seqno
  FROM blocks
  UNION ALL
  -- After a merge.
  SELECT
    mc_block_seqno, (prev_blocks->>'$[1].workchain')::INTEGER AS workchain, prev_blocks->>'$[1].shard' AS hex_shard,
    (prev_blocks->>'$[1].seqno')::INTEGER AS seqno
  FROM blocks
), replaced AS (
  SELECT workchain, lpad(upper(hex_shard), 16, '0') AS hex_shard, seqno, min(mc_block_seqno) AS since
  FROM links
  GROUP BY workchain, lpad(upper(hex_shard), 16, '0'), seqno
), states AS (
  SELECT
    unnest(range(mc_block_seqno, least(coalesce(since, last + 1), last + 1))) AS mc_seqno,
    blocks.workchain, shard, blocks.seqno, mc_block_seqno, root_hash, gen_utime, start_lt, end_lt
  FROM blocks
  JOIN runs ON runs.mc_seqno = mc_block_seqno
  LEFT JOIN replaced
    ON replaced.workchain = blocks.workchain AND hex_shard = lpad(hex(shard), 16, '0') AND replaced.seqno = blocks.seqno
)
SELECT
  masterchain.mc_seqno,
  workchain,
  shard,
  seqno,
  mc_block_seqno,
  root_hash,
  gen_utime,
  start_lt,
  end_lt,
  masterchain.block_time,
  masterchain.block_date
FROM states JOIN masterchain ON masterchain.mc_seqno = states.mc_seqno
