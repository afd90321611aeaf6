import { defineRecords } from '../field.ts';

/** Classified operations. */
export const actionRecords = defineRecords({
  /** Classified operation. */
  Action: {
    trace_id: 'base64-hash|null',
    action_id: 'base64-hash',
    start_lt: 'lt',
    end_lt: 'lt',
    start_utime: 'unix-seconds',
    end_utime: 'unix-seconds',
    trace_end_lt: 'lt',
    trace_end_utime: 'unix-seconds',
    trace_mc_seqno_end: 'seqno',
    transactions: 'base64-hash[]|null',
    success: 'bool|null',
    type: 'enum:action_type',
    details: 'by:type:action_details_by_type',
    raw_action: 'RawAction?',
    trace_external_hash: 'base64-hash?',
    trace_external_hash_norm: 'base64-hash?',
    accounts: 'raw-address[]?',
    transactions_full: 'Transaction[]?',
    finality: 'enum:finality',
  },
  /** Action.details for a type without variant. */
  FreeFormUnsupportedDetails: {
    error: 'text',
  },
});
