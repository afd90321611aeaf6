-- Messages by opcode (the first 32 bits of the body) and day.
-- question: What were contracts asked to do each day?
-- grain: one UTC day, direction and opcode
-- key: block_date, direction, opcode
-- inputs: messages
-- incremental: block_date
-- units: values in nanotons
-- columns:
--   block_date: UTC day of the transaction that received or sent the messages
--   direction: in: received; out: sent. An internal message counts once in each
--   opcode: first 32 bits of the body as a signed integer; null for shorter bodies
--   opcode_name: name of the opcode; null if tonlake does not know it
--   message_count: number of messages
--   account_count: distinct accounts that received or sent them
--   bounced_count: messages that were bounced back
--   value (nanoton): total value of the messages
SELECT
  block_date,
  direction,
  opcode,
  opcode_name(opcode) AS opcode_name,
  count(*) AS message_count,
  count(DISTINCT CASE direction WHEN 'in' THEN destination ELSE source END) AS account_count,
  count(*) FILTER (WHERE bounced) AS bounced_count,
  coalesce(sum(value), 0)::DECIMAL(38, 0) AS value
FROM messages
GROUP BY block_date, direction, opcode
