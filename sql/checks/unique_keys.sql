-- Keys of tables.
-- rule: no two rows of a table have the same key
-- inputs: blocks
-- optional: transactions, messages, account_states, actions, jetton_transfers, jetton_burns, nft_transfers
SELECT 'blocks' AS table_name, concat_ws(' ', workchain, shard, seqno) AS key, count(*) AS rows
FROM blocks GROUP BY ALL HAVING count(*) > 1
UNION ALL
SELECT 'transactions', hash, count(*) FROM transactions GROUP BY ALL HAVING count(*) > 1
UNION ALL
SELECT 'transactions', concat_ws(' ', account, lt), count(*) FROM transactions GROUP BY ALL HAVING count(*) > 1
UNION ALL
SELECT 'messages', concat_ws(' ', tx_hash, msg_hash, direction), count(*) FROM messages GROUP BY ALL HAVING count(*) > 1
UNION ALL
SELECT 'account_states', concat_ws(' ', account, last_trans_lt), count(*)
FROM account_states GROUP BY ALL HAVING count(*) > 1
UNION ALL
SELECT 'actions', concat_ws(' ', trace_id, action_id), count(*) FROM actions GROUP BY ALL HAVING count(*) > 1
UNION ALL
SELECT 'jetton_transfers', tx_hash, count(*) FROM jetton_transfers GROUP BY ALL HAVING count(*) > 1
UNION ALL
SELECT 'jetton_burns', tx_hash, count(*) FROM jetton_burns GROUP BY ALL HAVING count(*) > 1
UNION ALL
SELECT 'nft_transfers', tx_hash, count(*) FROM nft_transfers GROUP BY ALL HAVING count(*) > 1
