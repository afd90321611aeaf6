-- Accounts with transactions, by day.
-- question: How many accounts were active each day, and how many of them were new?
-- grain: one UTC day
-- key: block_date
-- inputs: transactions, messages
-- incremental: block_date
-- units: counts
-- columns:
--   blockchain: always ton
--   block_date: UTC day of the transactions
--   active_accounts: accounts with at least one transaction
--   active_wallets: accounts that accepted an external message, which is how people and bots use them
--   new_accounts: accounts whose first transaction ever was on that day
--   returning_accounts: active accounts that had a transaction before that day
--   deployed_accounts: accounts that became active on that day
WITH by_account AS (
  SELECT
    block_date,
    count(DISTINCT account) AS active_accounts,
    count(DISTINCT account) FILTER (WHERE prev_trans_lt = 0) AS new_accounts,
    count(DISTINCT account) FILTER (WHERE orig_status <> 'active' AND end_status = 'active') AS deployed_accounts
  FROM transactions
  GROUP BY block_date
), by_message AS (
  SELECT block_date, count(DISTINCT destination) AS active_wallets
  FROM messages
  WHERE direction = 'in' AND source IS NULL
  GROUP BY block_date
)
SELECT
  'ton' AS blockchain,
  block_date,
  active_accounts,
  coalesce(active_wallets, 0) AS active_wallets,
  new_accounts,
  active_accounts - new_accounts AS returning_accounts,
  deployed_accounts
FROM by_account LEFT JOIN by_message USING (block_date)
