-- blocks of shards
-- needs: blocks
SELECT workchain, shard_hex(shard) AS shard, seqno, block_time AS time, tx_count AS transactions, root_hash
FROM blocks WHERE mc_block_seqno = $thing ORDER BY workchain, shard_hex(shard), seqno LIMIT 100
