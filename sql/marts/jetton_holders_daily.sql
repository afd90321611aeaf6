-- Holders of each jetton at the end of each day, reckoned back from the latest snapshot of its wallets.
-- question: How did the holders of a jetton change over time?
-- grain: one UTC day with a change, and jetton
-- key: block_date, jetton_master
-- inputs: jetton_changes_daily, jetton_wallets
-- units: amounts in the smallest unit of the jetton
-- columns:
--   block_date: UTC day
--   jetton_master: address of the jetton
--   holder_count: owners with a balance at the end of the day, if the warehouse has all changes since
--   joined_count: owners whose balance was zero before the day
--   left_count: owners whose balance is zero after the day
--   amount: sum of the balances at the end of the day; null above 38 digits
WITH balances AS (
  SELECT jetton AS jetton_master, owner, try_exact_sum(balance_decimal) AS amount
  FROM (FROM jetton_wallets QUALIFY row_number() OVER (PARTITION BY address ORDER BY _read_at DESC) = 1)
  GROUP BY jetton, owner
), parts AS (
  -- In two parts of 19 digits, because sums of amounts may have more than 38.
  SELECT
    block_date, jetton_master, owner, change,
    change::HUGEINT // 10000000000000000000 AS high, change::HUGEINT % 10000000000000000000 AS low,
    coalesce(amount, 0)::HUGEINT // 10000000000000000000 AS held_high, coalesce(amount, 0)::HUGEINT % 10000000000000000000 AS held_low
  FROM jetton_changes_daily LEFT JOIN balances USING (jetton_master, owner)
), steps AS (
  SELECT
    *,
    held_high - coalesce(sum(high) OVER later, 0) AS after_high,
    held_low - coalesce(sum(low) OVER later, 0) AS after_low
  FROM parts
  WINDOW later AS (PARTITION BY jetton_master, owner ORDER BY block_date DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
), signs AS (
  SELECT
    block_date, jetton_master, high, low,
    _is_positive(after_high, after_low) AS held_after,
    _is_positive(after_high - high, after_low - low) AS held_before
  FROM steps
), days AS (
  SELECT
    block_date, jetton_master,
    count(*) FILTER (WHERE held_after AND NOT held_before) AS joined_count,
    count(*) FILTER (WHERE held_before AND NOT held_after) AS left_count,
    sum(high) AS high, sum(low) AS low
  FROM signs
  GROUP BY block_date, jetton_master
), latest AS (
  SELECT
    jetton_master, count(*) FILTER (WHERE amount > 0) AS holder_count,
    sum(amount::HUGEINT // 10000000000000000000) AS high, sum(amount::HUGEINT % 10000000000000000000) AS low
  FROM balances GROUP BY jetton_master
), ends AS (
  SELECT
    block_date, jetton_master, joined_count, left_count,
    coalesce(latest.holder_count, 0) - coalesce(sum(joined_count - left_count) OVER later, 0) AS holder_count,
    coalesce(latest.high, 0) - coalesce(sum(days.high) OVER later, 0) AS high,
    coalesce(latest.low, 0) - coalesce(sum(days.low) OVER later, 0) AS low
  FROM days LEFT JOIN latest USING (jetton_master)
  WINDOW later AS (PARTITION BY jetton_master ORDER BY block_date DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
)
SELECT
  block_date,
  jetton_master,
  holder_count::BIGINT AS holder_count,
  joined_count,
  left_count,
  CASE WHEN abs(high + low // 10000000000000000000) < 10000000000000000000
    THEN (high * 10000000000000000000 + low)::DECIMAL(38, 0) END AS amount
FROM ends
