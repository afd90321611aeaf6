import { field, ltWindows, pipeline, table } from 'tonlake/pipeline';

export default pipeline({
  name: 'message_links',
  doc: 'Messages with the transactions that sent and consumed them, by time of creation. Inbound external messages are in messages only.',
  endpoint: 'GET /messages',
  parameters: { sort: 'asc', exclude_externals: 'true' },
  // A message is consumed many blocks after it was created.
  walk: ltWindows({ column: 'created_lt', ties: { kind: 'total' }, lookBack: 2000 }),
  provenBy: ['transactions'],
  crossCheck: { kind: 'sentMessages', items: { parameter: 'msg_hash', batch: 100 } },
  tables: [
    table('message_links', {
      grain: 'one message created by a transaction; two rows if its trace is broken',
      key: ['msg_hash', 'in_msg_tx_hash'],
      sort: ['created_lt', 'msg_hash'],
      time: 'created_at',
      without: {
        '/message_content': 'body, body hash and decoded body: columns of messages, joined by msg_hash',
        '/init_state': 'attached StateInit: columns of messages, joined by msg_hash',
      },
      columns: {
        msg_hash: field('/hash', 'hash of the message').bloomFilter(),
        out_msg_tx_hash: field('/out_msg_tx_hash', 'transaction that sent it'),
        in_msg_tx_hash: field('/in_msg_tx_hash', 'transaction that consumed it; null while in transit'),
        source: field('/source', 'sender').bloomFilter(),
        destination: field('/destination', 'recipient; null for an outbound external message').bloomFilter(),
        value: field('/value', 'TON carried'),
        value_extra_currencies: field('/value_extra_currencies', 'extra currencies carried: amount by currency id'),
        fwd_fee: field('/fwd_fee', 'forward fee'),
        ihr_fee: field('/ihr_fee', 'instant hypercube routing fee'),
        extra_flags: field('/extra_flags', 'extra flags, since global version 12'),
        created_lt: field('/created_lt', 'logical time of the message'),
        created_at: field('/created_at', 'time of the message'),
        opcode: field('/opcode', 'first 32 bits of the body; null if it has fewer'),
        decoded_opcode: field('/decoded_opcode', 'name of the opcode, decoded by the server').decoration(),
        ihr_disabled: field('/ihr_disabled', 'no instant hypercube routing'),
        bounce: field('/bounce', 'returns to the sender if the recipient fails'),
        bounced: field('/bounced', 'is a returned message'),
        import_fee: field('/import_fee', 'import fee of an inbound external message; always null here'),
        msg_hash_norm: field(
          '/hash_norm',
          'normalized hash of an inbound external message; always null here',
        ).bloomFilter(),
      },
    }),
  ],
});
