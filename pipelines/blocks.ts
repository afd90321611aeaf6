import { masterchain, pipeline, table } from 'tonlake/pipeline';
import { blockColumns } from './tables/block_columns.ts';

export default pipeline({
  name: 'blocks',
  doc: 'Headers of masterchain blocks and of the shard blocks that they include; other tables are verified against them.',
  endpoint: 'GET /blocks',
  parameters: { sort: 'asc' },
  walk: masterchain({
    seqno: 'mc_seqno',
    proof: 'links',
    windows: { path: '/blocks', column: 'start_lt', order: 'ties' },
  }),
  tables: [
    table('blocks', {
      grain: 'one block of any workchain',
      plays: 'headers',
      record: 'Block',
      rows: { kind: 'records', path: '/blocks' },
      key: ['workchain', 'shard', 'seqno'],
      sort: ['mc_block_seqno', 'workchain', 'shard', 'seqno'],
      time: 'gen_utime',
      columns: blockColumns,
    }),
  ],
});
