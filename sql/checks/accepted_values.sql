-- Columns with a fixed set of values.
-- rule: statuses, kinds and directions have known values, and no amount or time is negative; a message has an end, and a value between accounts
-- incremental: block_date
-- inputs: blocks
-- optional: transactions, messages, jetton_transfers
SELECT 'blocks' AS table_name, 'workchain' AS column_name, workchain::VARCHAR AS value, count(*) AS rows
FROM blocks WHERE workchain NOT IN (-1, 0) GROUP BY ALL
UNION ALL
SELECT 'blocks', 'tx_count', tx_count::VARCHAR, count(*) FROM blocks WHERE tx_count < 0 GROUP BY ALL
UNION ALL
SELECT 'blocks', 'end_lt', end_lt::VARCHAR, count(*) FROM blocks WHERE end_lt < start_lt GROUP BY ALL
UNION ALL
SELECT 'transactions', 'orig_status', orig_status, count(*)
FROM transactions WHERE orig_status NOT IN ('uninit', 'frozen', 'active', 'nonexist') GROUP BY ALL
UNION ALL
SELECT 'transactions', 'end_status', end_status, count(*)
FROM transactions WHERE end_status NOT IN ('uninit', 'frozen', 'active', 'nonexist') GROUP BY ALL
UNION ALL
SELECT 'transactions', 'descr', descr, count(*)
FROM transactions
WHERE descr NOT IN ('ord', 'storage', 'tick_tock', 'split_prepare', 'split_install', 'merge_prepare', 'merge_install')
GROUP BY ALL
UNION ALL
SELECT 'transactions', 'skipped_reason', skipped_reason, count(*)
FROM transactions WHERE skipped_reason NOT IN ('no_state', 'bad_state', 'no_gas', 'suspended') GROUP BY ALL
UNION ALL
SELECT 'transactions', 'bounce', bounce, count(*)
FROM transactions WHERE bounce NOT IN ('negfunds', 'nofunds', 'ok') GROUP BY ALL
UNION ALL
SELECT 'transactions', 'total_fees', total_fees::VARCHAR, count(*) FROM transactions WHERE total_fees < 0 GROUP BY ALL
UNION ALL
SELECT 'transactions', 'block_date', block_date::VARCHAR, count(*)
FROM transactions WHERE block_date <> make_timestamp(now * 1000000)::DATE GROUP BY ALL
UNION ALL
SELECT 'messages', 'direction', direction, count(*) FROM messages WHERE direction NOT IN ('in', 'out') GROUP BY ALL
UNION ALL
SELECT 'messages', 'value', value::VARCHAR, count(*) FROM messages WHERE value < 0 OR fwd_fee < 0 GROUP BY ALL
UNION ALL
SELECT 'messages', 'source and destination', NULL, count(*)
FROM messages WHERE source IS NULL AND destination IS NULL HAVING count(*) > 0
UNION ALL
SELECT 'messages', 'value', NULL, count(*)
FROM messages WHERE source IS NOT NULL AND destination IS NOT NULL AND (value IS NULL OR created_lt IS NULL) HAVING count(*) > 0
UNION ALL
SELECT 'jetton_transfers', 'amount', amount::VARCHAR, count(*) FROM jetton_transfers WHERE amount < 0 GROUP BY ALL
