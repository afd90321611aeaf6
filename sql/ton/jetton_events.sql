-- Transfers, burns and mints of jettons.
-- grain: one event; aborted ones are listed, too
-- inputs: jetton_transfers, jetton_burns, messages, transactions, jetton_wallets
-- columns:
--   type VARCHAR: transfer, burn, mint
--   tx_hash VARCHAR: transaction on the jetton wallet
--   tx_lt BIGINT (lt): logical time of that transaction
--   utime BIGINT (seconds): Unix time of that transaction
--   trace_id VARCHAR: trace of that transaction
--   tx_aborted BOOLEAN: the event did not happen
--   query_id DECIMAL(20,0): chosen by the sender
--   amount DECIMAL(38,0): amount, in the smallest unit of the jetton
--   source VARCHAR: owner of the wallet that sent; null for a mint
--   destination VARCHAR: owner of the wallet that received; null for a burn
--   jetton_wallet VARCHAR: wallet of the transaction
--   jetton_master VARCHAR: address of the jetton
--   response_destination VARCHAR: where excess TON goes
--   custom_payload BLOB: as sent, as a bag of cells
--   forward_ton_amount DECIMAL(38,0) (nanoton): TON forwarded to the receiver
--   forward_payload BLOB: forwarded to the receiver, as a bag of cells; null for a mint
--   comment VARCHAR: text of the forwarded payload; null for a mint
--   block_time TIMESTAMP: UTC time of the transaction
--   block_date DATE: UTC date of the transaction
SELECT
  'transfer' AS type, tx_hash, tx_lt, tx_now AS utime, trace_id, tx_aborted, query_id, amount, source, destination,
  jetton_wallet, jetton_master, response_destination, custom_payload, forward_ton_amount, forward_payload, comment,
  block_time, block_date
FROM main.jetton_transfers
UNION ALL
SELECT
  'burn', tx_hash, tx_lt, tx_now, trace_id, tx_aborted, query_id, amount, owner, NULL,
  jetton_wallet, jetton_master, response_destination, custom_payload, NULL, NULL, NULL,
  block_time, block_date
FROM main.jetton_burns
UNION ALL
SELECT
  'mint', minted.tx_hash, minted.tx_lt, tx_now, minted.trace_id,
  NOT (coalesce(compute_exit_code, -1) = 0 AND coalesce(action_result_code, -1) = 0),
  _nibbles(digits, 8, 16)::DECIMAL(20, 0), _nibbles(digits, 25, 2 * TRY_CAST('0x' || substr(digits, 25, 1) AS INTEGER)), NULL, wallets.owner,
  minted.destination, wallets.jetton, NULL, NULL, NULL, NULL, NULL,
  minted.block_time, minted.block_date
FROM (SELECT *, _body_digits(body_boc) AS digits FROM main.messages WHERE direction = 'in' AND opcode = 395134233) AS minted
JOIN (
  SELECT address, owner, jetton FROM main.jetton_wallets
  QUALIFY row_number() OVER (PARTITION BY address ORDER BY _read_at DESC) = 1
) AS wallets ON wallets.address = minted.destination AND wallets.jetton = minted.source
JOIN main.transactions ON transactions.hash = minted.tx_hash AND transactions.block_date = minted.block_date
