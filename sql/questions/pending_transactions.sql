-- What is about to happen, as the index predicts it?
SELECT friendly_address(account) AS account, finality, aborted, ton(total_fees) AS fees
FROM pending_transactions
QUALIFY row_number() OVER (PARTITION BY hash ORDER BY seen_at DESC) = 1
ORDER BY lt DESC, hash
LIMIT 10
