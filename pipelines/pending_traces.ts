import { ephemeral, field, fromAsk, pipeline, table } from 'tonlake/pipeline';
import { traceColumns } from './tables/trace_columns.ts';
import { watchColumns } from './tables/watching.ts';

export default pipeline({
  name: 'pending_traces',
  doc: 'Traces that are under way, of the accounts and messages of a watch.',
  endpoint: 'GET /pendingTraces',
  parameters: { supported_action_types: ['v4', 'tgbtc'] },
  walk: ephemeral({ account: 'account', message: 'ext_msg_hash' }),
  ignore: ['address_book', 'metadata'],
  tables: [
    table('pending_traces', {
      grain: 'one trace as one watch saw it last before it was complete',
      plays: 'pendingTraces',
      record: 'Trace',
      rows: { kind: 'records', path: '/traces' },
      key: ['external_hash', '_watch_at'],
      sort: ['first_seen', 'external_hash'],
      without: {
        '/transactions': 'the rows of `pending_transactions`, joined by trace_external_hash',
        '/actions': 'the rows of `pending_actions`, joined by trace_external_hash',
      },
      columns: {
        ...traceColumns,
        trace_id: field('/trace_id', 'hash of the first transaction; null while that is predicted').bloomFilter(),
        external_hash: field('/external_hash', 'external message that started the trace').bloomFilter().required(),
        ...watchColumns,
        final_trace_id: fromAsk('base64-hash', 'final_trace_id', 'the complete trace').nullable(),
        final_mc_seqno_end: fromAsk('int32', 'final_seqno', 'masterchain block of its last transaction').nullable(),
      },
    }),
  ],
});
