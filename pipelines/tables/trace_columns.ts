import { base64Hash, bool, decimalInt64, int64Number, json, lt, text, unixSeconds } from 'tonlake/pipeline';

/** The fields of a trace, its transactions and actions apart. */
export const traceColumns = {
  trace_id: base64Hash('/trace_id', 'hash of the first transaction'),
  external_hash: base64Hash('/external_hash', 'hash of the external message that started it').nullable(),
  mc_seqno_start: decimalInt64('/mc_seqno_start', 'masterchain block of the first transaction'),
  mc_seqno_end: decimalInt64('/mc_seqno_end', 'masterchain block of the last transaction'),
  start_lt: lt('/start_lt', 'logical time of the first transaction'),
  start_utime: unixSeconds('/start_utime', 'time of the first transaction').unit('seconds'),
  end_lt: lt('/end_lt', 'greatest logical time'),
  end_utime: unixSeconds('/end_utime', 'time of the last transaction').unit('seconds'),
  trace_state: text('/trace_info/trace_state', 'complete; older databases also pending, broken'),
  messages: int64Number('/trace_info/messages', 'number of messages'),
  transactions: int64Number('/trace_info/transactions', 'number of transactions'),
  pending_messages: int64Number('/trace_info/pending_messages', 'messages without a receiver yet'),
  classification_state: text('/trace_info/classification_state', 'unclassified in history, whatever actions there are'),
  is_incomplete: bool('/is_incomplete', 'too large, above 4000 transactions: without tree and order'),
  warning: text('/warning', 'what is wrong with a trace that is too large').nullable(),
  transactions_order: json('/transactions_order', 'hashes of the transactions by logical time').nullable(),
  tree: json('/trace', 'the tree: tx_hash, in_msg_hash, children').nullable(),
};
