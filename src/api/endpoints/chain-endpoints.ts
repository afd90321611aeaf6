import { atLeastOne, endpoint, notWith } from '../endpoint.ts';

const byGenUtime = 'by gen_utime; default: no order';

/** Blocks, transactions and messages. */
export const chainEndpoints = {
  masterchainInfo: endpoint('GET /masterchainInfo', {
    doc: 'The first and the last masterchain block of the index.',
  }),
  blocks: endpoint('GET /blocks', {
    doc: 'Block headers; the list is empty for an unknown block.',
    parameters: {
      seqno: 'within the shard',
      mc_seqno: 'all blocks of this masterchain block, including itself',
      sort: byGenUtime,
    },
  }),
  masterchainBlockShards: endpoint('GET /masterchainBlockShards', {
    doc: 'All blocks of a masterchain block.',
    parameters: { seqno: 'of the masterchain block', sort: byGenUtime },
  }),
  masterchainBlockShardState: endpoint('GET /masterchainBlockShardState', {
    doc: 'The latest block of every shard at a masterchain block, and the masterchain block itself.',
    parameters: { seqno: 'of the masterchain block' },
  }),
  transactions: endpoint('GET /transactions', {
    doc: 'Transactions, in the total order of lt and account.',
    parameters: {
      seqno: 'of the block, within the shard',
      mc_seqno: 'of the masterchain block',
      exclude_account: { note: 'the server ignores', inert: true },
    },
  }),
  transactionsByMasterchainBlock: endpoint('GET /transactionsByMasterchainBlock', {
    doc: 'All transactions of a masterchain block and of the shard blocks that it includes.',
    parameters: { seqno: 'of the masterchain block' },
  }),
  transactionsByMessage: endpoint('GET /transactionsByMessage', {
    doc: 'Transactions by message; one that matches twice is listed twice, and only the last copy has messages.',
    parameters: {
      msg_hash: 'plain or normalized',
      opcode: 'of inbound messages',
      source: 'of the message',
      destination: 'of the message',
    },
    rules: [atLeastOne('msg_hash', 'body_hash', 'opcode')],
  }),
  adjacentTransactions: endpoint('GET /adjacentTransactions', {
    doc: 'The parent and the children of a transaction, by the messages between them.',
    parameters: { direction: 'in: the parent; out: the children' },
  }),
  messages: endpoint('GET /messages', {
    doc: 'Messages with the transactions that sent and consumed them; with desc, inbound externals come first.',
    parameters: {
      msg_hash: 'plain or normalized',
      hash: 'alias of msg_hash',
      source: 'null for inbound externals',
      destination: 'null for outbound externals',
      direction: 'omits the other transaction hash of each row',
      exclude_externals: 'only messages with a created_lt',
      only_externals: 'only inbound externals; time bounds do not apply to them',
    },
    rules: [
      notWith('hash', ['msg_hash']),
      notWith('only_externals', ['exclude_externals', 'start_utime', 'end_utime', 'start_lt', 'end_lt']),
    ],
  }),
  pendingTransactions: endpoint('GET /pendingTransactions', {
    doc: 'Emulated transactions of pending messages; they may never reach the chain.',
    parameters: { trace_id: { note: 'the server ignores, because account is required', inert: true } },
    fixedMaps: true,
  }),
};
