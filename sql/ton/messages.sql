-- Messages, with their bodies.
-- grain: one message as one transaction received or sent it; an internal message has a row at each end
-- inputs: messages
-- columns:
--   tx_hash VARCHAR: transaction that received or sent the message
--   tx_lt BIGINT (lt): logical time of the transaction
--   tx_now BIGINT (seconds): time of the transaction
--   msg_hash VARCHAR: hash of the message
--   direction VARCHAR: in: received by the transaction; out: sent by it
--   trace_id VARCHAR: trace id of that transaction
--   source VARCHAR: sender; null for an inbound external message
--   destination VARCHAR: recipient; null for an outbound external message
--   value BIGINT (nanoton): TON carried; null for external messages
--   fwd_fee BIGINT (nanoton): forward fee; null for external messages
--   ihr_fee BIGINT (nanoton): instant hypercube routing fee; null for external messages
--   created_lt BIGINT (lt): logical time of the message; null for an inbound external message
--   created_at BIGINT (seconds): time of the message; null for an inbound external message
--   opcode INTEGER: first 32 bits of the body; null if it has fewer
--   ihr_disabled BOOLEAN: no instant hypercube routing
--   bounce BOOLEAN: returns to the sender if the recipient fails
--   bounced BOOLEAN: is a returned message
--   import_fee BIGINT (nanoton): import fee of an inbound external message
--   body_hash VARCHAR: hash of the body
--   body_boc BLOB: body
--   comment VARCHAR: text comment in the body, decoded by the server
--   init_state_hash VARCHAR: hash of the attached StateInit
--   init_state_boc BLOB: attached StateInit
--   block_time TIMESTAMP: UTC time of tx_now
--   block_date DATE: UTC date of tx_now; the partition of the files
SELECT
  tx_hash,
  tx_lt,
  tx_now,
  msg_hash,
  direction,
  trace_id,
  source,
  destination,
  value,
  fwd_fee,
  ihr_fee,
  created_lt,
  created_at,
  opcode,
  ihr_disabled,
  bounce,
  bounced,
  import_fee,
  body_hash,
  body_boc,
  comment,
  init_state_hash,
  init_state_boc,
  block_time,
  block_date
FROM main.messages
