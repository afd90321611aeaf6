-- its transactions
-- needs: transactions
SELECT count(*) AS transactions, count(*) FILTER (aborted) AS aborted, count(DISTINCT account) AS accounts,
  ton(sum(total_fees)) AS fees_ton, count(DISTINCT trace_id) AS traces
FROM transactions WHERE mc_block_seqno = $thing HAVING count(*) > 0
