import { ephemeral, field, pipeline, table } from 'tonlake/pipeline';
import { actionColumns, supportedActionTypes } from './tables/action_columns.ts';
import { watchColumns } from './tables/watching.ts';

export default pipeline({
  name: 'pending_actions',
  doc: 'Predicted actions of pending traces, for the watched accounts and messages.',
  endpoint: 'GET /pendingActions',
  parameters: { supported_action_types: supportedActionTypes },
  walk: ephemeral({ account: 'account', message: 'ext_msg_hash' }),
  tables: [
    table('pending_actions', {
      grain: 'one action, as one watch saw it: a row when it is new, and whenever it has changed',
      plays: 'pendingActions',
      key: ['trace_external_hash', 'action_id', '_watch_at', 'seen_at'],
      sort: ['seen_at', 'trace_external_hash', 'action_id'],
      columns: {
        ...actionColumns,
        trace_external_hash: field('/trace_external_hash', 'hash of the external message that started the trace')
          .bloomFilter()
          .required(),
        ...watchColumns,
      },
    }),
  ],
});
