-- Transactions of each block against its header.
-- rule: every block of a sealed span has as many transactions as its header counts
-- incremental: block_date
-- inputs: blocks, transactions
WITH sealed AS (
  SELECT DISTINCT blocks.* FROM blocks
  JOIN _commits ON pipeline = 'transactions' AND verdict = 'sealed' AND mc_block_seqno BETWEEN span_from AND span_to
), counted AS (
  SELECT block_workchain, block_shard, block_seqno, count(*) AS got FROM transactions GROUP BY ALL
)
SELECT workchain, shard, seqno, mc_block_seqno, tx_count AS expected, coalesce(got, 0) AS got
FROM sealed
LEFT JOIN counted ON block_workchain = workchain AND block_shard = shard AND block_seqno = seqno
WHERE tx_count <> coalesce(got, 0)
