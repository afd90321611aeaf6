-- message
-- needs: messages
SELECT source, destination, opcode_label(any_value(opcode)) AS opcode, ton(any_value(value)) AS value_ton,
  ton(any_value(fwd_fee)) AS fwd_fee_ton, any_value(bounced) AS bounced, any_value(comment) AS comment,
  max(tx_hash) FILTER (direction = 'out') AS sent_by, max(tx_hash) FILTER (direction = 'in') AS received_by
FROM (FROM messages WHERE msg_hash = $thing UNION ALL FROM messages WHERE msg_hash_norm = $thing)
GROUP BY source, destination
