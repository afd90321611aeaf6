-- Transactions and their blocks.
-- rule: every transaction has its block, and lies within the block's range of logical time
-- incremental: block_date
-- inputs: blocks, transactions
SELECT hash, block_workchain, block_shard, block_seqno, lt, start_lt, end_lt
FROM transactions
LEFT JOIN blocks ON workchain = block_workchain AND shard = block_shard AND seqno = block_seqno
WHERE root_hash IS NULL OR lt < start_lt OR lt > end_lt
