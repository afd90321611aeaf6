-- block_times against blocks.
-- rule: each day of the mart counts the blocks of that day and their transactions; if not, run tonlake build
-- inputs: blocks, block_times
WITH mart AS (
  SELECT block_date, sum(block_count)::BIGINT AS blocks, sum(tx_count)::BIGINT AS tx_count FROM block_times GROUP BY ALL
), counted AS (
  SELECT block_date, count(*) AS blocks, sum(tx_count)::BIGINT AS tx_count FROM blocks GROUP BY ALL
)
SELECT block_date, mart.blocks AS got, counted.blocks AS expected
FROM mart FULL JOIN counted USING (block_date)
WHERE (mart.blocks IS DISTINCT FROM counted.blocks OR mart.tx_count IS DISTINCT FROM counted.tx_count)
  AND block_date NOT IN (SELECT block_date FROM _forgotten_days WHERE pipeline = 'blocks')
