-- What happened in a trace, message by message? Here in the first one with the most kinds of them.
WITH trace AS (
  SELECT trace_id FROM messages WHERE direction = 'in' GROUP BY trace_id ORDER BY count(DISTINCT opcode) DESC, min(tx_lt), trace_id LIMIT 1
)
SELECT
  transactions.lt, friendly_address(messages.source) AS sender, friendly_address(transactions.account) AS account,
  opcode_label(messages.opcode) AS operation, ton(messages.value) AS value, ton(transactions.total_fees) AS fees,
  exit_code_name(transactions.compute_exit_code) AS exit
FROM trace
JOIN transactions USING (trace_id)
LEFT JOIN messages ON messages.tx_hash = transactions.hash AND messages.direction = 'in'
ORDER BY transactions.lt, account
LIMIT 10
