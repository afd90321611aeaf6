-- block
-- needs: blocks
SELECT workchain, shard_hex(shard) AS shard, seqno, block_time AS time, tx_count AS transactions,
  mc_block_seqno AS masterchain_block FROM blocks WHERE $thing IN (root_hash, file_hash)
