-- actions
-- needs: actions
SELECT type, success, source, destination, amount, asset, comment FROM actions
WHERE trace_id = $trace ORDER BY start_lt, action_id LIMIT 100
