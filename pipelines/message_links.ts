import { field, ltWindows, pipeline, table } from 'tonlake/pipeline';

export default pipeline({
  name: 'message_links',
  doc: 'Messages with the transactions that sent and consumed them, by their creation. Inbound externals have none: they are in messages only.',
  endpoint: 'GET /messages',
  parameters: { sort: 'asc', exclude_externals: 'true' },
  // A message is consumed many blocks after it was created.
  walk: ltWindows({ ties: { kind: 'total' }, lookBack: 2000 }),
  provenBy: ['transactions'],
  crossCheck: { kind: 'sentMessages', items: { parameter: 'msg_hash', batch: 100 } },
  ignore: ['address_book', 'metadata'],
  tables: [
    table('message_links', {
      grain: 'one message that a transaction created; two rows where its trace is broken',
      record: 'Message',
      rows: { kind: 'records', path: '/messages' },
      key: ['msg_hash', 'in_msg_tx_hash'],
      sort: ['created_lt', 'msg_hash'],
      time: 'created_at',
      without: {
        '/message_content':
          'the body, its hash and what the server makes of it: columns of messages, joined by msg_hash',
        '/init_state': 'the state sent along: columns of messages, joined by msg_hash',
      },
      columns: {
        msg_hash: field('/hash', 'hash of the message').bloomFilter(),
        out_msg_tx_hash: field('/out_msg_tx_hash', 'transaction that sent it'),
        in_msg_tx_hash: field('/in_msg_tx_hash', 'transaction that consumed it; null while under way'),
        source: field('/source', 'sender').bloomFilter(),
        destination: field('/destination', 'receiver; null for an external message out').bloomFilter(),
        value: field('/value', 'value carried'),
        value_extra_currencies: field('/value_extra_currencies', 'extra currencies carried, id to amount'),
        fwd_fee: field('/fwd_fee', 'forward fee'),
        ihr_fee: field('/ihr_fee', 'fee for instant hypercube routing'),
        extra_flags: field('/extra_flags', 'flags from global version 12 on'),
        created_lt: field('/created_lt', 'logical time of the message'),
        created_at: field('/created_at', 'time of the message'),
        opcode: field('/opcode', 'first 32 bits of the body; null when it has fewer'),
        decoded_opcode: field('/decoded_opcode', 'name of the body’s scheme, as the server decodes it').decoration(),
        ihr_disabled: field('/ihr_disabled', 'no instant hypercube routing'),
        bounce: field('/bounce', 'comes back when the receiver fails'),
        bounced: field('/bounced', 'is such a message that came back'),
        import_fee: field('/import_fee', 'fee of an external message in; null here'),
        msg_hash_norm: field('/hash_norm', 'normalized hash of an external message in; null here').bloomFilter(),
      },
    }),
  ],
});
