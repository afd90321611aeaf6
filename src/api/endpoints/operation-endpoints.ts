import { atLeastOne, atMostOne, endpoint, exactlyOne, notWith } from '../endpoint.ts';

const supported = { kind: 'action-type', note: 'types, or groups such as v1, to return; default latest' } as const;
const windows = ['mc_seqno', 'start_utime', 'end_utime', 'start_lt', 'end_lt'];

/** Actions and traces. */
export const operationEndpoints = {
  actions: endpoint('GET /actions', {
    doc: 'Actions, in the order of their traces; they become available some seconds after the block.',
    parameters: {
      msg_hash: 'plain or normalized',
      action_id: 'overrides all other filters',
      trace_id: 'overrides all other filters except account',
      mc_seqno: 'traces that end in this masterchain block',
      action_type: { kind: 'action-type', note: 'stored types, no groups; overrides supported_action_types' },
      exclude_action_type: { kind: 'action-type', note: 'stored types, no groups' },
      supported_action_types: supported,
      include_transactions: 'at most 100 distinct transactions per response',
    },
    rules: [
      notWith('mc_seqno', ['account', 'tx_hash', 'msg_hash']),
      notWith('account', ['tx_hash', 'msg_hash', 'action_id']),
      notWith('tx_hash', ['msg_hash']),
      notWith('action_id', ['trace_id', 'tx_hash', 'msg_hash', 'action_type', 'exclude_action_type', ...windows]),
      notWith('trace_id', ['tx_hash', 'msg_hash', 'action_type', 'exclude_action_type', ...windows]),
    ],
  }),
  traces: endpoint('GET /traces', {
    doc: 'Complete traces with all their transactions, in the total order of end_lt and trace_id.',
    parameters: { mc_seqno: 'traces that end in this masterchain block', supported_action_types: supported },
    rules: [atMostOne('account', 'trace_id', 'tx_hash', 'msg_hash')],
  }),
  pendingActions: endpoint('GET /pendingActions', {
    doc: 'Actions of pending traces; an empty list does not prove that there are none.',
    parameters: {
      ext_msg_hash: 'plain or normalized, of the external message',
      supported_action_types: supported,
    },
    rules: [exactlyOne('account', 'ext_msg_hash')],
  }),
  pendingTraces: endpoint('GET /pendingTraces', {
    doc: 'Pending traces, in no order.',
    parameters: { ext_msg_hash: 'of the external message', supported_action_types: supported },
    rules: [atLeastOne('account', 'ext_msg_hash')],
  }),
};
