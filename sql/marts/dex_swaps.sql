-- Successful swaps on decentralized exchanges.
-- question: Who swapped what for what, where and when?
-- grain: one action of type jetton_swap that succeeded
-- key: block_date, trace_id, action_id
-- inputs: actions
-- optional: messages
-- incremental: block_date
-- before: 1000
-- units: amounts in the smallest unit of the asset
-- columns:
--   tx_hash: first transaction that the source lists for the swap
--   trace_id: trace of the swap
--   action_id: identifies the swap within its trace
--   event_time (Unix time): the last transaction of the swap
--   event_type: always trade
--   project: exchange: stonfi, dedust, tonco, coffee; null if the source does not say
--   version: version of the exchange's contracts; null if the source does not say
--   trader_address: account that made the swap
--   pool_address: pool that paid, by the opcode of its message; null for several pools, for another exchange, without messages, and if it paid more than 1,000 masterchain blocks before the day
--   token_sold_address: jetton that the trader sold; the all-zero address is TON
--   token_bought_address: jetton that the trader bought; the all-zero address is TON
--   amount_sold_raw: amount sold
--   amount_bought_raw: amount bought
--   query_id: chosen by the trader
--   lt (lt): greatest logical time of the swap's transactions
--   block_time: UTC time at which the trace ended
--   block_date: UTC day on which the trace ended
WITH payouts AS (
  -- The messages by which pools of ston.fi (both versions), DeDust and TONCO tell what is to be paid.
  SELECT tx_hash, source, block_date FROM messages WHERE direction = 'in' AND opcode IN (-113527745, 1702581493, -1387350283, -1579505299)
), swaps AS (
  SELECT trace_id, action_id, block_date, unnest(string_split(translate(transactions, '[]" ', ''), ',')) AS tx_hash FROM actions WHERE type = 'jetton_swap' AND success
), pools AS (
  -- The trace may have ended on the day after. The dates keep a build of one day to the messages of two.
  SELECT trace_id, action_id, swaps.block_date, any_value(source) AS pool FROM swaps
  JOIN payouts ON payouts.tx_hash = swaps.tx_hash AND payouts.block_date BETWEEN swaps.block_date - 1 AND swaps.block_date
  GROUP BY trace_id, action_id, swaps.block_date HAVING count(DISTINCT source) = 1
)
SELECT
  transactions->>'$[0]' AS tx_hash,
  trace_id,
  action_id,
  end_utime AS event_time,
  'trade' AS event_type,
  regexp_replace(dex, '_v[0-9]+$', '') AS project,
  nullif(regexp_extract(dex, '_v([0-9]+)$', 1), '') AS version,
  coalesce(sender, source) AS trader_address,
  coalesce(actions.pool, pools.pool) AS pool_address,
  coalesce(asset_in, '0:' || repeat('0', 64)) AS token_sold_address,
  coalesce(asset_out, '0:' || repeat('0', 64)) AS token_bought_address,
  swap_amount_in AS amount_sold_raw,
  swap_amount_out AS amount_bought_raw,
  query_id,
  end_lt AS lt,
  block_time,
  block_date
FROM actions
LEFT JOIN pools USING (trace_id, action_id, block_date)
WHERE type = 'jetton_swap' AND success
