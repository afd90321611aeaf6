import { block, field, pipeline, table } from 'tonlake/pipeline';
import { traceColumns } from './tables/trace_columns.ts';

export default pipeline({
  name: 'traces',
  doc: 'Complete traces: everything that one external message or tick-tock started. Their transactions are in `transactions`, by trace_id.',
  endpoint: 'GET /traces',
  parameters: { sort: 'asc' },
  // Each record contains all its transactions, so pages are small: those of a window in all, those of one block because it may be a large one.
  walk: block({ seqno: 'mc_seqno', column: 'mc_seqno_end', limit: 50, windows: { limit: 200, column: 'end_lt' } }),
  provenBy: ['transactions'],
  crossCheck: { kind: 'wholeTraces', items: { parameter: 'trace_id', batch: 20 } },
  tables: [
    table('traces', {
      grain: 'one complete trace, listed with the masterchain block of its last transaction',
      plays: 'wholeTraces',
      key: ['trace_id'],
      sort: ['mc_seqno_end', 'end_lt', 'trace_id'],
      time: 'end_utime',
      without: {
        '/transactions':
          'copies of rows of `transactions`, which is verified against block headers; joined by trace_id',
      },
      columns: {
        ...traceColumns,
        actions: field('/actions', 'actions, if requested; the actions table has them').decoration(),
      },
      views: [
        {
          name: 'traces_early',
          doc: 'traces that began before the exported range: `transactions` has only some of their transactions',
          sql: `SELECT traces.*, coalesce(held, 0) AS held_transactions FROM traces
            LEFT JOIN (SELECT trace_id, count(*) AS held FROM transactions GROUP BY trace_id) USING (trace_id)
            WHERE coalesce(held, 0) <> transactions`,
          adds: { held_transactions: 'number of its transactions that were exported' },
        },
        {
          name: 'traces_late',
          doc: 'traces of exported transactions that are not in `traces`: they ended after the exported range, or are not complete',
          sql: `SELECT trace_id, count(*) AS held_transactions, min(mc_block_seqno) AS first_seqno, max(mc_block_seqno) AS last_seqno
            FROM transactions ANTI JOIN traces USING (trace_id) WHERE trace_id IS NOT NULL GROUP BY trace_id`,
        },
      ],
    }),
  ],
});
