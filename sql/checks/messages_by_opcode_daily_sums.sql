-- messages_by_opcode_daily against messages.
-- rule: each day of the mart counts the messages of that day and their value; if not, run tonlake build
-- inputs: messages, messages_by_opcode_daily
WITH mart AS (
  SELECT block_date, direction, sum(message_count) AS message_count, sum(value) AS value
  FROM messages_by_opcode_daily GROUP BY ALL
), counted AS (
  SELECT block_date, direction, count(*) AS message_count, coalesce(sum(value), 0)::DECIMAL(38, 0) AS value
  FROM messages GROUP BY ALL
)
SELECT block_date, direction, mart.message_count AS got, counted.message_count AS expected
FROM mart FULL JOIN counted USING (block_date, direction)
WHERE (mart.message_count IS DISTINCT FROM counted.message_count OR mart.value IS DISTINCT FROM counted.value)
  AND block_date NOT IN (SELECT block_date FROM _forgotten_days WHERE pipeline = 'transactions')
