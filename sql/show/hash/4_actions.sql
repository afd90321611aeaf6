-- actions
-- needs: actions, transactions
SELECT type, success, source, destination, amount, asset, comment FROM actions
WHERE trace_id = coalesce((SELECT min(trace_id) FROM transactions WHERE hash = $thing), $thing)
ORDER BY start_lt, action_id LIMIT 100
