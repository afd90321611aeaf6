-- Transactions of each block against its header.
-- rule: every block of a proven span has as many transactions as its header counts
-- incremental: block_date
-- inputs: blocks, transactions
WITH proven AS (
  SELECT DISTINCT blocks.* FROM blocks
  JOIN _commits ON pipeline = 'transactions' AND verdict = 'accepted' AND mc_block_seqno BETWEEN span_from AND span_to
), counted AS (
  SELECT block_workchain, block_shard, block_seqno, count(*) AS got FROM transactions GROUP BY ALL
)
SELECT workchain, shard, seqno, mc_block_seqno, tx_count AS expected, coalesce(got, 0) AS got
FROM proven
LEFT JOIN counted ON block_workchain = workchain AND block_shard = shard AND block_seqno = seqno
WHERE tx_count <> coalesce(got, 0)
