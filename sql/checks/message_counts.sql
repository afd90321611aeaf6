-- Messages of each transaction against its own counts.
-- rule: every transaction has the messages that its type, action phase and bounce phase imply
-- incremental: block_date
-- inputs: transactions, messages
WITH counted AS (
  SELECT
    tx_hash,
    count(*) FILTER (WHERE direction = 'in') AS received,
    count(*) FILTER (WHERE direction = 'out') AS sent
  FROM messages
  GROUP BY tx_hash
), told AS (
  SELECT
    hash,
    CASE descr WHEN 'ord' THEN 1 ELSE 0 END AS expected_received,
    -- A failed action phase keeps its count of messages, but sends none of them.
    CASE WHEN action_success THEN coalesce(action_msgs_created, 0) ELSE 0 END
      + CASE WHEN bounce = 'ok' THEN 1 ELSE 0 END AS expected_sent
  FROM transactions
  WHERE descr IN ('ord', 'tick_tock')
)
SELECT hash, expected_received, coalesce(received, 0) AS received, expected_sent, coalesce(sent, 0) AS sent
FROM told LEFT JOIN counted ON tx_hash = hash
WHERE coalesce(received, 0) <> expected_received OR coalesce(sent, 0) <> expected_sent
