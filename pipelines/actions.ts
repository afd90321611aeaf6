import { actionTypes, block, fromRequest, pipeline, table } from 'tonlake/pipeline';
import { actionColumns, supportedActionTypes } from './tables/action_columns.ts';

export default pipeline({
  name: 'actions',
  doc: 'What traces did, as classified by the source: transfers, swaps, mints, stakes.',
  endpoint: 'GET /actions',
  parameters: { sort: 'asc', supported_action_types: supportedActionTypes },
  // The source writes actions some time after the block, newest blocks first.
  walk: block({
    seqno: 'mc_seqno',
    column: 'trace_mc_seqno_end',
    limit: 1000,
    lookBack: 2000,
    windows: { limit: 1000, column: 'trace_end_lt' },
  }),
  provenBy: ['transactions', 'traces'],
  crossCheck: { kind: 'traceMembers', items: { parameter: 'trace_id', batch: 50 } },
  tables: [
    table('actions', {
      grain: 'one action of a trace, listed with the masterchain block in which the trace ends',
      key: ['trace_id', 'action_id'],
      sort: ['trace_mc_seqno_end', 'trace_end_lt', 'end_lt', 'action_id'],
      time: 'trace_end_utime',
      columns: {
        ...actionColumns,
        _supported_action_types: fromRequest('text', 'supported_action_types', 'action types that were requested'),
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
