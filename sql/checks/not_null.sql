-- Values that every row must have.
-- rule: columns that the source always fills are never null
-- inputs: blocks
-- optional: transactions, messages, account_states, actions, jetton_transfers, nft_transfers
SELECT 'blocks' AS table_name, concat_ws(' ', workchain, shard, seqno) AS key
FROM blocks
WHERE workchain IS NULL OR shard IS NULL OR seqno IS NULL OR root_hash IS NULL OR mc_block_seqno IS NULL
  OR gen_utime IS NULL OR start_lt IS NULL OR end_lt IS NULL OR tx_count IS NULL OR block_date IS NULL
UNION ALL
SELECT 'transactions', coalesce(hash, concat_ws(' ', account, lt))
FROM transactions
WHERE account IS NULL OR hash IS NULL OR lt IS NULL OR now IS NULL OR total_fees IS NULL OR descr IS NULL
  OR orig_status IS NULL OR end_status IS NULL OR mc_block_seqno IS NULL OR block_date IS NULL
UNION ALL
SELECT 'messages', concat_ws(' ', tx_hash, msg_hash, direction)
FROM messages
WHERE tx_hash IS NULL OR tx_lt IS NULL OR msg_hash IS NULL OR direction IS NULL OR block_date IS NULL
  OR (source IS NULL AND destination IS NULL)
  OR (source IS NOT NULL AND destination IS NOT NULL AND (value IS NULL OR created_lt IS NULL))
UNION ALL
SELECT 'account_states', concat_ws(' ', account, last_trans_lt)
FROM account_states
WHERE account IS NULL OR hash IS NULL OR last_trans_lt IS NULL OR timestamp IS NULL
UNION ALL
SELECT 'actions', action_id
FROM actions
WHERE action_id IS NULL OR type IS NULL OR start_lt IS NULL OR end_lt IS NULL OR block_date IS NULL
UNION ALL
SELECT 'jetton_transfers', tx_hash
FROM jetton_transfers
WHERE tx_hash IS NULL OR tx_lt IS NULL OR amount IS NULL OR source IS NULL OR jetton_master IS NULL
UNION ALL
SELECT 'nft_transfers', tx_hash
FROM nft_transfers
WHERE tx_hash IS NULL OR tx_lt IS NULL OR nft_item_address IS NULL OR old_owner IS NULL
