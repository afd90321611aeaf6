import { atLeastOne, atMostOne, exactlyOne, get, notWith, rows } from '../endpoint.ts';
import { bounds, many, one, page, sort } from '../parameter.ts';

const supported = many('action-type', 'types, or groups such as v1, to return; default latest');
const windows = ['mc_seqno', 'start_utime', 'end_utime', 'start_lt', 'end_lt'];

/** Actions and traces. */
export const operationEndpoints = {
  actions: get('Actions and traces', '/actions', {
    doc: 'Actions, in the order of their traces; they become available some seconds after the block.',
    parameters: {
      account: one('address'),
      tx_hash: many('hash'),
      msg_hash: many('hash', 'plain or normalized'),
      action_id: many('hash', 'overrides all other filters'),
      trace_id: many('hash', 'overrides all other filters except account'),
      mc_seqno: one('int32', 'traces that end in this masterchain block'),
      ...bounds('trace_end_utime', 'trace_end_lt'),
      action_type: many('action-type', 'stored types, no groups; overrides supported_action_types'),
      exclude_action_type: many('action-type', 'stored types, no groups'),
      supported_action_types: supported,
      include_accounts: one('bool'),
      include_transactions: one('bool', 'at most 100 distinct transactions per response'),
      ...page,
      sort,
    },
    rules: [
      notWith('mc_seqno', ['account', 'tx_hash', 'msg_hash']),
      notWith('account', ['tx_hash', 'msg_hash', 'action_id']),
      notWith('tx_hash', ['msg_hash']),
      notWith('action_id', ['trace_id', 'tx_hash', 'msg_hash', 'action_type', 'exclude_action_type', ...windows]),
      notWith('trace_id', ['tx_hash', 'msg_hash', 'action_type', 'exclude_action_type', ...windows]),
    ],
    answer: rows('actions', 'Action'),
    missing: 'wait',
  }),
  traces: get('Actions and traces', '/traces', {
    doc: 'Complete traces with all their transactions, in the total order of end_lt and trace_id.',
    parameters: {
      account: one('address'),
      trace_id: many('hash'),
      tx_hash: many('hash'),
      msg_hash: many('hash'),
      mc_seqno: one('int32', 'traces that end in this masterchain block'),
      ...bounds('end_utime', 'end_lt'),
      include_actions: one('bool'),
      supported_action_types: supported,
      ...page,
      sort,
    },
    rules: [atMostOne('account', 'trace_id', 'tx_hash', 'msg_hash')],
    answer: rows('traces', 'Trace'),
    missing: 'wait',
  }),
  pendingActions: get('Actions and traces', '/pendingActions', {
    doc: 'Actions of pending traces; an empty list does not prove that there are none.',
    parameters: {
      account: one('address'),
      ext_msg_hash: many('hash', 'plain or normalized, of the external message'),
      supported_action_types: supported,
      include_transactions: one('bool'),
    },
    rules: [exactlyOne('account', 'ext_msg_hash')],
    answer: rows('actions', 'Action'),
  }),
  pendingTraces: get('Actions and traces', '/pendingTraces', {
    doc: 'Pending traces, in no order.',
    parameters: {
      account: one('address'),
      ext_msg_hash: many('hash', 'of the external message'),
      supported_action_types: supported,
    },
    rules: [atLeastOne('account', 'ext_msg_hash')],
    answer: rows('traces', 'Trace'),
  }),
};
