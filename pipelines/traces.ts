import { block, json, pipeline, table } from 'tonlake/pipeline';
import { traceColumns } from './tables/trace_columns.ts';

export default pipeline({
  name: 'traces',
  doc: 'Complete traces: what one external message, or one tick, set in motion. Their transactions are in `transactions`, by trace_id.',
  endpoint: 'GET /traces',
  parameters: { sort: 'asc' },
  // Each row carries all its transactions.
  walk: block({ seqno: 'mc_seqno', column: 'mc_seqno_end', limit: 50 }),
  ignore: ['address_book', 'metadata'],
  tables: [
    table('traces', {
      grain: 'one complete trace, listed with the masterchain block of its last transaction',
      rows: { kind: 'records', path: '/traces' },
      key: ['trace_id'],
      sort: ['mc_seqno_end', 'end_lt', 'trace_id'],
      time: 'end_utime',
      without: {
        '/transactions':
          'copies of the rows of `transactions`, which is proven by the block headers; joined by trace_id',
      },
      columns: {
        ...traceColumns,
        actions: json('/actions', 'actions, where they were asked for; the actions table has them')
          .decoration()
          .nullable(),
      },
    }),
  ],
});
