import {
  base64Hash,
  block,
  bool,
  fromAsk,
  int32,
  json,
  lt,
  pipeline,
  table,
  text,
  unixSeconds,
} from 'tonlake/pipeline';
import { detailColumns } from './tables/action_details.ts';
import { actionTypes } from './tables/action_types.ts';

export default pipeline({
  name: 'actions',
  doc: 'What traces did, as the source classifies it: transfers, swaps, mints, stakes.',
  endpoint: 'GET /actions',
  // A fixed list: which types are visible by default changes with the server.
  parameters: { sort: 'asc', supported_action_types: ['v4', 'tgbtc'] },
  // Written after the block, newest blocks first.
  walk: block({ seqno: 'mc_seqno', column: 'trace_mc_seqno_end', limit: 1000, lookBack: 2000 }),
  ignore: ['address_book', 'metadata'],
  tables: [
    table('actions', {
      grain: 'one action of a trace, listed with the masterchain block in which the trace ends',
      rows: { kind: 'records', path: '/actions' },
      key: ['trace_id', 'action_id'],
      sort: ['trace_mc_seqno_end', 'trace_end_lt', 'end_lt', 'action_id'],
      time: 'trace_end_utime',
      columns: {
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
        _supported_action_types: fromAsk('text', 'supported_action_types', 'types that were visible to the request'),
      },
      views: actionTypes.map((type) => ({
        name: `actions_${type}`,
        doc: `actions of type ${type}`,
        sql: `SELECT * FROM actions WHERE type = '${type}'`,
        adds: {},
      })),
    }),
  ],
});
