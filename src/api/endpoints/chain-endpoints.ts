import { atLeastOne, bareRows, get, notWith, record, rows, rowsWithNames } from '../endpoint.ts';
import { bounds, choice, many, need, needMany, one, page, sort } from '../parameter.ts';

const direction = choice(['in', 'out']);

/** Blocks, transactions and messages. */
export const chainEndpoints = {
  masterchainInfo: get('Blockchain Data', '/masterchainInfo', {
    doc: 'The first and the last masterchain block of the index.',
    parameters: {},
    answer: record('MasterchainInfo'),
  }),
  blocks: get('Blockchain Data', '/blocks', {
    doc: 'Block headers; the list is empty for an unknown block.',
    parameters: {
      workchain: one('int32'),
      shard: one('shard'),
      seqno: one('int32', 'within the shard'),
      root_hash: one('hash'),
      file_hash: one('hash'),
      mc_seqno: one('int32', 'all blocks of this masterchain block, including itself'),
      ...bounds('gen_utime', 'start_lt'),
      ...page,
      sort: choice(['asc', 'desc'], 'by gen_utime; default: no order'),
    },
    answer: bareRows('blocks', 'Block'),
  }),
  masterchainBlockShards: get('Blockchain Data', '/masterchainBlockShards', {
    doc: 'All blocks of a masterchain block.',
    parameters: {
      seqno: need('int32', 'of the masterchain block'),
      ...page,
      sort: choice(['asc', 'desc'], 'by gen_utime; default: no order'),
    },
    answer: bareRows('blocks', 'Block'),
    missing: 'wait',
  }),
  masterchainBlockShardState: get('Blockchain Data', '/masterchainBlockShardState', {
    doc: 'The latest block of every shard at a masterchain block, and the masterchain block itself.',
    parameters: { seqno: need('int32', 'of the masterchain block') },
    answer: bareRows('blocks', 'Block'),
    missing: 'wait',
  }),
  transactions: get('Blockchain Data', '/transactions', {
    doc: 'Transactions, in the total order of lt and account.',
    parameters: {
      workchain: one('int32'),
      shard: one('shard'),
      seqno: one('int32', 'of the block, within the shard'),
      mc_seqno: one('int32', 'of the masterchain block'),
      account: many('address'),
      exclude_account: many('address', 'the server ignores', { inert: true }),
      hash: many('hash'),
      lt: one('uint64'),
      ...bounds('now', 'lt'),
      ...page,
      sort,
    },
    answer: rowsWithNames('transactions', 'Transaction'),
    missing: 'wait',
  }),
  transactionsByMasterchainBlock: get('Blockchain Data', '/transactionsByMasterchainBlock', {
    doc: 'All transactions of a masterchain block and of the shard blocks that it includes.',
    parameters: { seqno: need('int32', 'of the masterchain block'), ...page, sort },
    answer: rowsWithNames('transactions', 'Transaction'),
    missing: 'wait',
  }),
  transactionsByMessage: get('Blockchain Data', '/transactionsByMessage', {
    doc: 'Transactions by message; one that matches twice is listed twice, and only the last copy has messages.',
    parameters: {
      msg_hash: many('hash', 'plain or normalized'),
      body_hash: one('hash'),
      opcode: one('opcode', 'of inbound messages'),
      direction,
      source: one('address', 'of the message'),
      destination: one('address', 'of the message'),
      ...page,
      sort,
    },
    rules: [atLeastOne('msg_hash', 'body_hash', 'opcode')],
    answer: rowsWithNames('transactions', 'Transaction'),
  }),
  adjacentTransactions: get('Blockchain Data', '/adjacentTransactions', {
    doc: 'The parent and the children of a transaction, by the messages between them.',
    parameters: { hash: need('hash'), direction: choice(['in', 'out'], 'in: the parent; out: the children') },
    answer: rowsWithNames('transactions', 'Transaction'),
    missing: 'no rows',
  }),
  messages: get('Blockchain Data', '/messages', {
    doc: 'Messages with the transactions that sent and consumed them; with desc, inbound externals come first.',
    parameters: {
      msg_hash: many('hash', 'plain or normalized'),
      hash: one('hash', 'alias of msg_hash'),
      body_hash: one('hash'),
      source: one('address-or-null', 'null for inbound externals'),
      destination: one('address-or-null', 'null for outbound externals'),
      opcode: one('opcode'),
      ...bounds('created_at', 'created_lt'),
      direction: choice(['in', 'out'], 'omits the other transaction hash of each row'),
      exclude_externals: one('bool', 'only messages with a created_lt'),
      only_externals: one('bool', 'only inbound externals; time bounds do not apply to them'),
      ...page,
      sort,
    },
    rules: [
      notWith('hash', ['msg_hash']),
      notWith('only_externals', ['exclude_externals', 'start_utime', 'end_utime', 'start_lt', 'end_lt']),
    ],
    answer: rows('messages', 'Message'),
  }),
  pendingTransactions: get('Blockchain Data', '/pendingTransactions', {
    doc: 'Emulated transactions of pending messages; they may never reach the chain.',
    parameters: {
      account: needMany('address'),
      trace_id: many('hash', 'the server ignores, because account is required', { inert: true }),
    },
    answer: rowsWithNames('transactions', 'Transaction'),
    missing: 'no rows',
    fixedMaps: true,
  }),
};
