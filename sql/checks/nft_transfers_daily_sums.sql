-- nft_transfers_daily against nft_transfers.
-- rule: each day of the mart counts the transfer orders of that day; if not, run tonlake build
-- inputs: nft_transfers, nft_transfers_daily
WITH mart AS (
  SELECT block_date, sum(transfer_count + aborted_count)::BIGINT AS orders FROM nft_transfers_daily GROUP BY ALL
), counted AS (
  SELECT block_date, count(*) AS orders FROM nft_transfers GROUP BY ALL
)
SELECT block_date, mart.orders AS got, counted.orders AS expected
FROM mart FULL JOIN counted USING (block_date)
WHERE mart.orders IS DISTINCT FROM counted.orders
  AND block_date NOT IN (SELECT block_date FROM _forgotten_days WHERE pipeline = 'nft_transfers')
