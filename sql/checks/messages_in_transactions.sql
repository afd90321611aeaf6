-- Messages and their transactions.
-- rule: every message has its transaction, with the same time and the account that received or sent it
-- incremental: block_date
-- inputs: transactions, messages
SELECT tx_hash, msg_hash, direction, tx_lt, lt, account
FROM messages
LEFT JOIN transactions ON hash = tx_hash
WHERE lt IS NULL OR lt <> tx_lt OR account <> CASE direction WHEN 'in' THEN destination ELSE source END
