-- Holders of each jetton at the end of each day, reckoned back and on from the latest snapshot of its wallets.
-- question: How did the holders of a jetton change over time?
-- grain: one UTC day with a change, and jetton
-- key: block_date, jetton_master
-- inputs: jetton_changes_daily, jetton_wallets
-- units: amounts in the smallest unit of the jetton
-- columns:
--   block_date: UTC day
--   jetton_master: address of the jetton
--   holder_count: owners with a balance at the end of the day, if the warehouse has all changes between the snapshot and the day; those of the day of the snapshot count as made before it
--   joined_count: owners whose balance was zero before the day
--   left_count: owners whose balance is zero after the day
--   amount: sum of the balances at the end of the day; null above 38 digits
WITH wallets AS (
  FROM jetton_wallets QUALIFY row_number() OVER (PARTITION BY address ORDER BY _read_at DESC) = 1
), balances AS (
  SELECT jetton AS jetton_master, owner, try_exact_sum(balance_decimal) AS amount, max(_read_at)::DATE AS read_on
  FROM wallets
  GROUP BY jetton, owner
), readings AS (
  -- Of owners who had no wallet then.
  SELECT jetton AS jetton_master, max(_read_at)::DATE AS read_on FROM wallets GROUP BY jetton
), parts AS (
  -- In two parts of 19 digits, because sums of amounts may have more than 38.
  SELECT
    block_date, jetton_master, owner, change,
    change::HUGEINT // 10000000000000000000 AS high, change::HUGEINT % 10000000000000000000 AS low,
    coalesce(amount, 0)::HUGEINT // 10000000000000000000 AS held_high, coalesce(amount, 0)::HUGEINT % 10000000000000000000 AS held_low,
    coalesce(block_date <= coalesce(balances.read_on, readings.read_on), true) AS is_read
  FROM jetton_changes_daily
  LEFT JOIN balances USING (jetton_master, owner)
  LEFT JOIN readings USING (jetton_master)
), steps AS (
  -- From the balance that was read: changes up to the day, without those that it has already.
  SELECT
    *,
    held_high + coalesce(sum(high) OVER until, 0) - coalesce(sum(CASE WHEN is_read THEN high END) OVER own, 0) AS after_high,
    held_low + coalesce(sum(low) OVER until, 0) - coalesce(sum(CASE WHEN is_read THEN low END) OVER own, 0) AS after_low
  FROM parts
  WINDOW
    until AS (PARTITION BY jetton_master, owner ORDER BY block_date ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW),
    own AS (PARTITION BY jetton_master, owner)
), signs AS (
  SELECT
    block_date, jetton_master, high, low, is_read,
    _is_positive(after_high, after_low) AS held_after,
    _is_positive(after_high - high, after_low - low) AS held_before
  FROM steps
), days AS (
  SELECT
    block_date, jetton_master,
    count(*) FILTER (WHERE held_after AND NOT held_before) AS joined_count,
    count(*) FILTER (WHERE held_before AND NOT held_after) AS left_count,
    count(*) FILTER (WHERE is_read AND held_after AND NOT held_before)
      - count(*) FILTER (WHERE is_read AND held_before AND NOT held_after) AS read_count,
    sum(high) AS high, sum(low) AS low,
    sum(CASE WHEN is_read THEN high END) AS read_high, sum(CASE WHEN is_read THEN low END) AS read_low
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
    coalesce(latest.holder_count, 0) + sum(joined_count - left_count) OVER until - sum(read_count) OVER own AS holder_count,
    coalesce(latest.high, 0) + coalesce(sum(days.high) OVER until, 0) - coalesce(sum(read_high) OVER own, 0) AS high,
    coalesce(latest.low, 0) + coalesce(sum(days.low) OVER until, 0) - coalesce(sum(read_low) OVER own, 0) AS low
  FROM days LEFT JOIN latest USING (jetton_master)
  WINDOW
    until AS (PARTITION BY jetton_master ORDER BY block_date ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW),
    own AS (PARTITION BY jetton_master)
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
