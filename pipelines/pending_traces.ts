import { ephemeral, field, pipeline, table } from 'tonlake/pipeline';
import { supportedActionTypes } from './tables/action_columns.ts';
import { traceColumns } from './tables/trace_columns.ts';
import { watchColumns } from './tables/watching.ts';

export default pipeline({
  name: 'pending_traces',
  doc: 'Pending traces of the watched accounts and messages.',
  endpoint: 'GET /pendingTraces',
  parameters: { supported_action_types: supportedActionTypes },
  walk: ephemeral({ account: 'account', message: 'ext_msg_hash' }),
  tables: [
    table('pending_traces', {
      grain: 'one trace, as one watch saw it: a row when it is new, and whenever it has changed',
      plays: 'pendingTraces',
      key: ['external_hash', '_watch_at', 'seen_at'],
      sort: ['seen_at', 'external_hash'],
      without: {
        '/transactions': 'the rows of `pending_transactions`, joined by trace_external_hash',
        '/actions': 'the rows of `pending_actions`, joined by trace_external_hash',
      },
      columns: {
        ...traceColumns,
        trace_id: field('/trace_id', 'hash of the first transaction; null while it is only predicted').bloomFilter(),
        external_hash: field('/external_hash', 'hash of the external message that started the trace')
          .bloomFilter()
          .required(),
        ...watchColumns,
      },
    }),
  ],
});
