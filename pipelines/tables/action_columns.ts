import { base64Hash, bool, int32, json, lt, text, unixSeconds } from 'tonlake/pipeline';
import { detailColumns } from './action_details.ts';

/** The fields of an action. */
export const actionColumns = {
  trace_id: base64Hash('/trace_id', 'trace').nullable(),
  action_id: base64Hash('/action_id', 'tells the action within its trace'),
  type: text('/type', 'what was done: ton_transfer, jetton_swap ...'),
  success: bool('/success', 'whether it was done').nullable(),
  start_lt: lt('/start_lt', 'least logical time of its transactions'),
  end_lt: lt('/end_lt', 'greatest logical time of its transactions'),
  start_utime: unixSeconds('/start_utime', 'time of its first transaction').unit('seconds'),
  end_utime: unixSeconds('/end_utime', 'time of its last transaction').unit('seconds'),
  trace_end_lt: lt('/trace_end_lt', 'greatest logical time of the trace'),
  trace_end_utime: unixSeconds('/trace_end_utime', 'time of the last transaction of the trace').unit('seconds'),
  trace_mc_seqno_end: int32('/trace_mc_seqno_end', 'masterchain block of the last transaction of the trace'),
  transactions: json('/transactions', 'hashes of its transactions, in no order').nullable(),
  ...detailColumns,
  details: json('/details', 'all that the source says of it; the fields depend on the type').nullable(),
  raw_action: json('/raw_action', 'row of the source’s database, for types without details').nullable(),
  trace_external_hash: base64Hash('/trace_external_hash', 'external message that started the trace').nullable(),
  trace_external_hash_norm: base64Hash('/trace_external_hash_norm', 'its normalized hash').nullable(),
  accounts: json('/accounts', 'accounts it touches, where they were asked for').nullable(),
  transactions_full: json('/transactions_full', 'its transactions, where they were asked for').nullable(),
  finality: text('/finality', 'finalized in history; absent from servers before 2026').nullable(),
};
