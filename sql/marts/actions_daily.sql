-- Actions of traces, by type and day.
-- question: What did people do each day: transfers, swaps, mints, stakes?
-- grain: one UTC day and type of action
-- key: block_date, type
-- inputs: actions
-- incremental: block_date
-- units: counts
-- columns:
--   block_date: UTC day on which the trace of the action ended
--   type: type of the action, as the source classifies it
--   action_count: number of actions
--   success_count: actions that succeeded
--   trace_count: traces with at least one such action
SELECT
  block_date,
  type,
  count(*) AS action_count,
  count(*) FILTER (WHERE success) AS success_count,
  count(DISTINCT trace_id) AS trace_count
FROM actions
GROUP BY block_date, type
