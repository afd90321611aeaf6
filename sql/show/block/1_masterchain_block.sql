-- masterchain block
-- needs: blocks
SELECT block_time AS time, key_block, root_hash, start_lt, end_lt,
  (SELECT count(*) FROM blocks WHERE mc_block_seqno = $thing) AS blocks,
  (SELECT sum(tx_count) FROM blocks WHERE mc_block_seqno = $thing) AS transactions_by_headers
FROM blocks WHERE workchain = -1 AND seqno = $thing
