-- Messages and their transactions.
-- rule: the transaction of every message is there, with the same time, and is of the account that received or sent it
-- inputs: transactions, messages
SELECT tx_hash, msg_hash, direction, tx_lt, lt, account
FROM messages
LEFT JOIN transactions ON hash = tx_hash
WHERE lt IS NULL OR lt <> tx_lt OR account <> CASE direction WHEN 'in' THEN destination ELSE source END
