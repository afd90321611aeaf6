import { field } from 'tonlake/pipeline';

/** The fields of a trace, its transactions and actions apart. */
export const traceColumns = {
  trace_id: field('/trace_id', 'hash of the first transaction').bloomFilter().required(),
  external_hash: field('/external_hash', 'hash of the external message that started the trace').bloomFilter(),
  mc_seqno_start: field('/mc_seqno_start', 'masterchain block of the first transaction').unit('seqno'),
  mc_seqno_end: field('/mc_seqno_end', 'masterchain block of the last transaction').unit('seqno'),
  start_lt: field('/start_lt', 'logical time of the first transaction'),
  start_utime: field('/start_utime', 'time of the first transaction'),
  end_lt: field('/end_lt', 'highest logical time').required(),
  end_utime: field('/end_utime', 'time of the last transaction').required(),
  trace_state: field('/trace_info/trace_state', 'complete; older databases also have pending and broken'),
  messages: field('/trace_info/messages', 'number of messages'),
  transactions: field('/trace_info/transactions', 'number of transactions'),
  pending_messages: field('/trace_info/pending_messages', 'number of messages not yet consumed'),
  classification_state: field(
    '/trace_info/classification_state',
    'always unclassified in history, even if there are actions',
  ),
  is_incomplete: field('/is_incomplete', 'more than 4000 transactions: tree and transactions_order are missing'),
  warning: field('/warning', 'warning of the server for an incomplete trace'),
  transactions_order: field('/transactions_order', 'hashes of the transactions by logical time'),
  tree: field('/trace', 'tree of tx_hash, in_msg_hash and children'),
};
