import { atLeastOne, atMostOne, exactlyOne, get, notWith, rows } from '../endpoint.ts';
import { bounds, many, one, page, sort } from '../parameter.ts';

const supported = many('action-type', 'groups such as v1 or types; decides which types are visible, default latest');
const windows = ['mc_seqno', 'start_utime', 'end_utime', 'start_lt', 'end_lt'];

/** Actions and traces. */
export const operationEndpoints = {
  actions: get('/actions', {
    group: 'Actions and traces',
    doc: 'Classified operations, in the order of their traces; they are written some seconds after the block.',
    parameters: {
      account: one('address'),
      tx_hash: many('hash'),
      msg_hash: many('hash', 'plain or normalized'),
      action_id: many('hash', 'replaces every other filter'),
      trace_id: many('hash', 'replaces every other filter but account'),
      mc_seqno: one('int32', 'traces that end in this masterchain block'),
      ...bounds('trace_end_utime', 'trace_end_lt'),
      action_type: many('action-type', 'stored types, no groups; sets supported_action_types aside'),
      exclude_action_type: many('action-type', 'stored types, no groups'),
      supported_action_types: supported,
      include_accounts: one('bool'),
      include_transactions: one('bool', 'at most 100 distinct transactions per answer'),
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
  traces: get('/traces', {
    group: 'Actions and traces',
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
  pendingActions: get('/pendingActions', {
    group: 'Actions and traces',
    doc: 'Operations of traces that are still under way; an empty list proves nothing.',
    parameters: {
      account: one('address'),
      ext_msg_hash: many('hash', 'plain or normalized, of the external message'),
      supported_action_types: supported,
      include_transactions: one('bool'),
    },
    rules: [exactlyOne('account', 'ext_msg_hash')],
    answer: rows('actions', 'Action'),
  }),
  pendingTraces: get('/pendingTraces', {
    group: 'Actions and traces',
    doc: 'Traces that are still under way, in no order.',
    parameters: {
      account: one('address'),
      ext_msg_hash: many('hash', 'of the external message'),
      supported_action_types: supported,
    },
    rules: [atLeastOne('account', 'ext_msg_hash')],
    answer: rows('traces', 'Trace'),
  }),
};
