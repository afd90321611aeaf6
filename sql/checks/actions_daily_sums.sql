-- actions_daily against actions.
-- rule: each row of the mart counts the actions of its day and type; if not, run tonlake build
-- inputs: actions, actions_daily
SELECT block_date, type, mart.action_count AS got, counted.action_count AS expected
FROM (SELECT block_date, type, action_count FROM actions_daily) AS mart
FULL JOIN (SELECT block_date, type, count(*) AS action_count FROM actions GROUP BY ALL) AS counted USING (block_date, type)
WHERE mart.action_count IS DISTINCT FROM counted.action_count
  AND block_date NOT IN (SELECT block_date FROM _forgotten_days WHERE pipeline = 'actions')
