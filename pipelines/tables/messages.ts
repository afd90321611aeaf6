import {
  base64Hash,
  boc,
  bool,
  decimal38,
  fromParent,
  fromPlace,
  json,
  lt,
  nanoton,
  opcodeHex,
  rawAddress,
  table,
  text,
  textComment,
  unixSecondsString,
} from 'tonlake/pipeline';

export const messages = table('messages', {
  grain: 'one message as one transaction received or sent it; an internal message has a row at each end',
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
    tx_hash: fromParent('base64-hash', 'hash', 'transaction that received or sent the message'),
    tx_lt: fromParent('decimal-int64', 'lt', 'logical time of that transaction').unit('lt'),
    tx_now: fromParent('unix-seconds', 'now', 'time of that transaction').unit('seconds'),
    tx_mc_block_seqno: fromParent('int32', 'mc_block_seqno', 'masterchain block of that transaction'),
    msg_hash: base64Hash('/hash', 'hash of the message'),
    direction: fromPlace('in: received by the transaction; out: sent by it'),
    trace_id: fromParent('base64-hash', 'trace_id', 'trace of that transaction').nullable(),
    source: rawAddress('/source', 'sender; null for an external message in').nullable(),
    destination: rawAddress('/destination', 'receiver; null for an external message out').nullable(),
    value: nanoton('/value', 'value carried; null for external messages').nullable(),
    value_extra_currencies: json(
      '/value_extra_currencies',
      'extra currencies carried, id to amount; null for external messages',
    ).nullable(),
    fwd_fee: nanoton('/fwd_fee', 'forward fee; null for external messages').nullable(),
    ihr_fee: nanoton('/ihr_fee', 'fee for instant hypercube routing; null for external messages').nullable(),
    extra_flags: decimal38('/extra_flags', 'flags from global version 12 on').nullable(),
    created_lt: lt('/created_lt', 'logical time of the message; null for an external message in').nullable(),
    created_at: unixSecondsString('/created_at', 'time of the message; null for an external message in')
      .unit('seconds')
      .nullable(),
    opcode: opcodeHex('/opcode', 'first 32 bits of the body; null when it has fewer').nullable(),
    decoded_opcode: text('/decoded_opcode', 'name of the body’s scheme, as the server decodes it')
      .decoration()
      .nullable(),
    ihr_disabled: bool('/ihr_disabled', 'no instant hypercube routing').nullable(),
    bounce: bool('/bounce', 'comes back when the receiver fails').nullable(),
    bounced: bool('/bounced', 'is such a message that came back').nullable(),
    import_fee: nanoton('/import_fee', 'fee of an external message in').nullable(),
    msg_hash_norm: base64Hash(
      '/hash_norm',
      'normalized hash of an external message in; null when equal to msg_hash',
    ).nullable(),
    body_hash: base64Hash('/message_content/hash', 'hash of the body').nullable(),
    body_boc: boc('/message_content/body', 'the body').nullable(),
    decoded: json('/message_content/decoded', 'the body as the server decodes it').decoration().nullable(),
    comment: textComment('/message_content/decoded', 'text comment of the body, as the server decodes it')
      .decoration()
      .nullable(),
    init_state_hash: base64Hash('/init_state/hash', 'hash of the state that came with the message').nullable(),
    init_state_boc: boc('/init_state/body', 'the state that came with the message').nullable(),
    init_state_decoded: json('/init_state/decoded', 'always null so far').decoration().nullable(),
    in_msg_tx_hash: base64Hash(
      '/in_msg_tx_hash',
      'transaction that received the message; sent by /messages and by servers of 2024',
    ).nullable(),
    out_msg_tx_hash: base64Hash(
      '/out_msg_tx_hash',
      'transaction that sent the message; sent by /messages and by servers of 2024',
    ).nullable(),
  },
  views: [
    {
      name: 'messages_edge',
      doc: 'messages between accounts of which one end was exported only: sent before, or not consumed yet at the end',
      sql: `SELECT one.*, CASE direction WHEN 'in' THEN 'sender' ELSE 'receiver' END AS missing_end FROM messages AS one
        WHERE source IS NOT NULL AND destination IS NOT NULL AND NOT EXISTS (
          SELECT 1 FROM messages AS other WHERE other.msg_hash = one.msg_hash AND other.direction <> one.direction)`,
      adds: { missing_end: 'whose transaction is not in `transactions`: sender or receiver' },
    },
  ],
});
