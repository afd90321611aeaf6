import { field } from 'tonlake/pipeline';
import { detailColumns } from './action_details.ts';

/** The fields of an action. */
export const actionColumns = {
  trace_id: field('/trace_id', 'trace').bloomFilter(),
  action_id: field('/action_id', 'tells the action within its trace'),
  type: field('/type', 'what was done: ton_transfer, jetton_swap ...'),
  success: field('/success', 'whether it was done'),
  start_lt: field('/start_lt', 'least logical time of its transactions'),
  end_lt: field('/end_lt', 'greatest logical time of its transactions'),
  start_utime: field('/start_utime', 'time of its first transaction'),
  end_utime: field('/end_utime', 'time of its last transaction'),
  trace_end_lt: field('/trace_end_lt', 'greatest logical time of the trace'),
  trace_end_utime: field('/trace_end_utime', 'time of the last transaction of the trace'),
  trace_mc_seqno_end: field('/trace_mc_seqno_end', 'masterchain block of the last transaction of the trace'),
  transactions: field('/transactions', 'hashes of its transactions, in no order'),
  ...detailColumns,
  details: field('/details', 'all that the source says of it; the fields depend on the type').nullable(),
  raw_action: field('/raw_action', 'row of the source’s database, for types without details'),
  trace_external_hash: field('/trace_external_hash', 'external message that started the trace').bloomFilter(),
  trace_external_hash_norm: field('/trace_external_hash_norm', 'its normalized hash'),
  accounts: field('/accounts', 'accounts it touches, where they were asked for'),
  transactions_full: field('/transactions_full', 'its transactions, where they were asked for'),
  finality: field('/finality', 'finalized in history; absent from servers before 2026').nullable(),
};
