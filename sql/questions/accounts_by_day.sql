-- How many accounts were active each day, and how many of them were new or came back?
SELECT block_date, active_accounts, active_wallets, new_accounts, returning_accounts, deployed_accounts
FROM active_accounts_daily
ORDER BY block_date
