-- jetton_volumes_daily and jetton_transfers_daily against jetton_transfers.
-- rule: each row of the marts has the transfers of its day and jetton; if not, run tonlake build
-- inputs: jetton_transfers, jetton_volumes_daily, jetton_transfers_daily
WITH counted AS (
  SELECT block_date, jetton_master, count(*) AS transfer_count, exact_sum_text(amount) AS amount_text
  FROM jetton_transfers WHERE NOT coalesce(tx_aborted, false) GROUP BY ALL
)
SELECT block_date, jetton_master, volumes.amount_text AS got, counted.amount_text AS expected
FROM (SELECT block_date, jetton_master, transfer_count, amount_text FROM jetton_volumes_daily) AS volumes
FULL JOIN (SELECT block_date, jetton_master, transfer_count FROM jetton_transfers_daily) AS transfers
  USING (block_date, jetton_master)
FULL JOIN counted USING (block_date, jetton_master)
WHERE (volumes.amount_text IS DISTINCT FROM counted.amount_text
  OR volumes.transfer_count IS DISTINCT FROM counted.transfer_count
  OR transfers.transfer_count IS DISTINCT FROM counted.transfer_count)
  AND block_date NOT IN (SELECT block_date FROM _forgotten_days WHERE pipeline = 'jetton_transfers')
