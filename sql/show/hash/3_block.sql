-- block
-- needs: blocks
SELECT workchain, shard_hex(shard) AS shard, seqno, block_time AS time, tx_count AS transactions,
  mc_block_seqno
FROM (FROM blocks WHERE root_hash = $thing UNION ALL FROM blocks WHERE file_hash = $thing)
