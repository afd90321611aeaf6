import {
  base64Hash,
  bool,
  decimal38,
  json,
  lt,
  ltWindows,
  nanoton,
  opcodeHex,
  pipeline,
  rawAddress,
  table,
  text,
  unixSecondsString,
} from 'tonlake/pipeline';

export default pipeline({
  name: 'message_links',
  doc: 'Messages with the transactions that sent and consumed them, by their creation. Inbound externals have none: they are in messages only.',
  endpoint: 'GET /messages',
  parameters: { sort: 'asc', exclude_externals: 'true' },
  // A message is consumed many blocks after it was created.
  walk: ltWindows({ ties: { kind: 'total' }, lookBack: 2000 }),
  ignore: ['address_book', 'metadata'],
  tables: [
    table('message_links', {
      grain: 'one message that a transaction created; two rows where its trace is broken',
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
        msg_hash: base64Hash('/hash', 'hash of the message'),
        out_msg_tx_hash: base64Hash('/out_msg_tx_hash', 'transaction that sent it').nullable(),
        in_msg_tx_hash: base64Hash('/in_msg_tx_hash', 'transaction that consumed it; null while under way').nullable(),
        source: rawAddress('/source', 'sender').nullable(),
        destination: rawAddress('/destination', 'receiver; null for an external message out').nullable(),
        value: nanoton('/value', 'value carried').nullable(),
        value_extra_currencies: json('/value_extra_currencies', 'extra currencies carried, id to amount').nullable(),
        fwd_fee: nanoton('/fwd_fee', 'forward fee').nullable(),
        ihr_fee: nanoton('/ihr_fee', 'fee for instant hypercube routing').nullable(),
        extra_flags: decimal38('/extra_flags', 'flags from global version 12 on').nullable(),
        created_lt: lt('/created_lt', 'logical time of the message').nullable(),
        created_at: unixSecondsString('/created_at', 'time of the message').unit('seconds').nullable(),
        opcode: opcodeHex('/opcode', 'first 32 bits of the body; null when it has fewer').nullable(),
        decoded_opcode: text('/decoded_opcode', 'name of the body’s scheme, as the server decodes it')
          .decoration()
          .nullable(),
        ihr_disabled: bool('/ihr_disabled', 'no instant hypercube routing').nullable(),
        bounce: bool('/bounce', 'comes back when the receiver fails').nullable(),
        bounced: bool('/bounced', 'is such a message that came back').nullable(),
        import_fee: nanoton('/import_fee', 'fee of an external message in; null here').nullable(),
        msg_hash_norm: base64Hash('/hash_norm', 'normalized hash of an external message in; null here').nullable(),
      },
    }),
  ],
});
