-- last transactions
-- needs: transactions, messages
WITH last AS (
  SELECT block_time AS time, mc_block_seqno, lt, hash, descr AS kind, ton(total_fees) AS fees_ton,
    CASE WHEN NOT compute_success THEN concat_ws(' ', compute_exit_code, exit_code_name(compute_exit_code)) END AS exit_code
  FROM transactions WHERE account = $thing ORDER BY lt DESC LIMIT 10
)
SELECT last.* EXCLUDE mc_block_seqno, opcode_label(opcode) AS opcode, ton(value) AS value_ton, source
FROM last LEFT JOIN messages ON tx_mc_block_seqno = mc_block_seqno AND tx_hash = hash AND direction = 'in' ORDER BY lt DESC
