import { field } from 'tonlake/pipeline';
import { detailColumns } from './action_details.ts';

/** The fields of an action. */
export const actionColumns = {
  trace_id: field('/trace_id', 'trace id').bloomFilter(),
  action_id: field('/action_id', 'id of the action, unique within its trace'),
  type: field('/type', 'type of the action: ton_transfer, jetton_swap ...'),
  success: field('/success', 'true if the action succeeded'),
  start_lt: field('/start_lt', 'lowest logical time of its transactions'),
  end_lt: field('/end_lt', 'highest logical time of its transactions'),
  start_utime: field('/start_utime', 'time of its first transaction'),
  end_utime: field('/end_utime', 'time of its last transaction'),
  trace_end_lt: field('/trace_end_lt', 'highest logical time of the trace'),
  trace_end_utime: field('/trace_end_utime', 'time of the last transaction of the trace'),
  trace_mc_seqno_end: field('/trace_mc_seqno_end', 'masterchain block of the last transaction of the trace'),
  transactions: field('/transactions', 'hashes of its transactions, in no order'),
  ...detailColumns,
  details: field('/details', 'all details; the fields depend on the type').nullable(),
  raw_action: field('/raw_action', 'row of the source’s database, for types without details'),
  trace_external_hash: field(
    '/trace_external_hash',
    'hash of the external message that started the trace',
  ).bloomFilter(),
  trace_external_hash_norm: field('/trace_external_hash_norm', 'normalized hash of that message'),
  accounts: field('/accounts', 'accounts involved, if requested'),
  transactions_full: field('/transactions_full', 'its transactions, if requested'),
  finality: field('/finality', 'finalized in history; not sent by servers before 2026').nullable(),
};
