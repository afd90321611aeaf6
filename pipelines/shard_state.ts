import { block, fromAsk, pipeline, table } from 'tonlake/pipeline';
import { blockColumns } from './tables/block_columns.ts';

export default pipeline({
  name: 'shard_state',
  doc: 'The latest block of every shard at each masterchain block, and the masterchain block itself.',
  endpoint: 'GET /masterchainBlockShardState',
  walk: block({ seqno: 'seqno', column: 'mc_seqno' }),
  tables: [
    table('shard_state', {
      grain:
        'the latest block of one shard as of a masterchain block; a shard without a new block repeats the previous one',
      plays: 'shardStates',
      record: 'Block',
      rows: { kind: 'records', path: '/blocks' },
      key: ['mc_seqno', 'workchain', 'shard', 'seqno'],
      time: 'gen_utime',
      columns: {
        mc_seqno: fromAsk('int32', 'seqno', 'masterchain block whose shard state this is'),
        ...blockColumns,
      },
    }),
  ],
});
