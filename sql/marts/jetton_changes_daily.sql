-- Changes of jetton balances, by owner and day.
-- question: Who gained and lost how much of a jetton each day?
-- grain: one UTC day, jetton and owner with a transfer, burn or mint
-- key: block_date, jetton_master, owner
-- inputs: jetton_transfers, jetton_burns
-- optional: actions
-- incremental: block_date
-- units: amounts in the smallest unit of the jetton
-- columns:
--   block_date: UTC day of the orders
--   jetton_master: address of the jetton
--   owner: owner of the wallets
--   received: amount received by transfers and mints; mints need actions
--   sent: amount sent and burnt; a burn counts if the server does not say whether it failed (servers of 2024)
--   change: received less sent; null if one of them exceeds 38 digits
--   event_count: number of transfers, burns and mints
WITH flows AS (
  SELECT block_date, jetton_master, source AS owner, 0::DECIMAL(38, 0) AS received, amount AS sent
  FROM jetton_transfers WHERE NOT coalesce(tx_aborted, false)
  UNION ALL
  SELECT block_date, jetton_master, destination, amount, 0 FROM jetton_transfers WHERE NOT coalesce(tx_aborted, false)
  UNION ALL
  SELECT block_date, jetton_master, owner, 0, amount FROM jetton_burns WHERE NOT coalesce(tx_aborted, false)
  UNION ALL
  SELECT block_date, asset, receiver, amount, 0 FROM actions WHERE type = 'jetton_mint' AND success
)
SELECT
  block_date,
  jetton_master,
  owner,
  try_exact_sum(received) AS received,
  try_exact_sum(sent) AS sent,
  try_exact_sum(received) - try_exact_sum(sent) AS change,
  count(*) AS event_count
FROM flows
WHERE owner IS NOT NULL AND jetton_master IS NOT NULL
GROUP BY block_date, jetton_master, owner
