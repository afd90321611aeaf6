import { field, fromParent, fromPlace, table, textComment } from 'tonlake/pipeline';

export const messages = table('messages', {
  grain: 'one message as one transaction received or sent it; an internal message has a row at each end',
  plays: 'messageEnds',
  record: 'Message',
  rows: {
    kind: 'nested',
    of: 'transactions',
    places: [
      { path: '/in_msg', count: 'one', label: 'in' },
      { path: '/out_msgs', count: 'many', label: 'out' },
    ],
  },
  key: ['tx_hash', 'msg_hash', 'direction'],
  sort: ['tx_lt', 'tx_hash', 'direction', 'created_lt', 'msg_hash'],
  time: 'tx_now',
  columns: {
    tx_hash: fromParent('base64-hash', 'hash', 'transaction that received or sent the message').bloomFilter(),
    tx_lt: fromParent('decimal-int64', 'lt', 'logical time of the transaction').unit('lt'),
    tx_now: fromParent('unix-seconds', 'now', 'time of the transaction').unit('seconds'),
    tx_mc_block_seqno: fromParent('int32', 'mc_block_seqno', 'masterchain block of that transaction'),
    msg_hash: field('/hash', 'hash of the message').bloomFilter(),
    direction: fromPlace('in: received by the transaction; out: sent by it'),
    trace_id: fromParent('base64-hash', 'trace_id', 'trace id of that transaction').bloomFilter().nullable(),
    source: field('/source', 'sender; null for an inbound external message').bloomFilter(),
    destination: field('/destination', 'recipient; null for an outbound external message').bloomFilter(),
    value: field('/value', 'TON carried; null for external messages'),
    value_extra_currencies: field(
      '/value_extra_currencies',
      'extra currencies carried: amount by currency id; null for external messages',
    ),
    fwd_fee: field('/fwd_fee', 'forward fee; null for external messages'),
    ihr_fee: field('/ihr_fee', 'instant hypercube routing fee; null for external messages'),
    extra_flags: field('/extra_flags', 'extra flags, since global version 12'),
    created_lt: field('/created_lt', 'logical time of the message; null for an inbound external message'),
    created_at: field('/created_at', 'time of the message; null for an inbound external message'),
    opcode: field('/opcode', 'first 32 bits of the body; null if it has fewer'),
    decoded_opcode: field('/decoded_opcode', 'name of the opcode, decoded by the server').decoration(),
    ihr_disabled: field('/ihr_disabled', 'no instant hypercube routing'),
    bounce: field('/bounce', 'returns to the sender if the recipient fails'),
    bounced: field('/bounced', 'is a returned message'),
    import_fee: field('/import_fee', 'import fee of an inbound external message'),
    msg_hash_norm: field(
      '/hash_norm',
      'normalized hash of an inbound external message; null if equal to msg_hash',
    ).bloomFilter(),
    body_hash: field('/message_content/hash', 'hash of the body'),
    body_boc: field('/message_content/body', 'body'),
    decoded: field('/message_content/decoded', 'body decoded by the server').decoration(),
    comment: textComment('/message_content/decoded', 'text comment in the body, decoded by the server')
      .decoration()
      .nullable(),
    init_state_hash: field('/init_state/hash', 'hash of the attached StateInit'),
    init_state_boc: field('/init_state/body', 'attached StateInit'),
    init_state_decoded: field('/init_state/decoded', 'always null so far').decoration(),
    in_msg_tx_hash: field(
      '/in_msg_tx_hash',
      'transaction that received the message; sent by /messages and by servers of 2024',
    ),
    out_msg_tx_hash: field(
      '/out_msg_tx_hash',
      'transaction that sent the message; sent by /messages and by servers of 2024',
    ),
  },
  views: [
    {
      name: 'messages_edge',
      doc: 'messages between accounts of which only one end was exported: sent before the range, or not consumed by its end',
      sql: `SELECT one.*, CASE direction WHEN 'in' THEN 'sender' ELSE 'receiver' END AS missing_end FROM messages AS one
        WHERE source IS NOT NULL AND destination IS NOT NULL AND NOT EXISTS (
          SELECT 1 FROM messages AS other WHERE other.msg_hash = one.msg_hash AND other.direction <> one.direction)`,
      adds: { missing_end: 'the end whose transaction is not in `transactions`: sender or receiver' },
    },
  ],
});
