import { dateOf, int32, text, unixSeconds } from '../declare/column.ts';
import { pipeline } from '../declare/pipeline.ts';
import { table } from '../declare/table.ts';
import { masterchain } from '../declare/walk.ts';
import type { Batch } from './batch.ts';
import { Decoder } from './decoder.ts';

/** A record that could not be decoded, as received. */
export interface Quarantined {
  readonly pipeline: string;
  readonly seqno: number;
  /** `GET /transactionsByMasterchainBlock?seqno=5`, to request the page again. */
  readonly request: string;
  readonly pointer: string;
  readonly reason: string;
  readonly raw: string;
  /** Unix time of the masterchain block, in seconds; null if its header is not in the warehouse. */
  readonly utime: number | null;
  /** Unix time in seconds. */
  readonly foundAt: number;
}

/** Records that could not be decoded. */
export const quarantineTable = table('quarantine', {
  grain: 'one record or page that could not be decoded; removed once a later run can decode it',
  rows: { kind: 'records', path: '/quarantine' },
  key: ['pipeline', 'mc_block_seqno', 'pointer'],
  sort: ['mc_block_seqno', 'pointer'],
  time: 'utime',
  columns: {
    pipeline: text('/pipeline', 'pipeline that read the record'),
    mc_block_seqno: int32('/seqno', 'masterchain block that the record belongs to; counts as not done'),
    request: text('/request', 'request that returned the record'),
    pointer: text('/pointer', 'JSON pointer of the field, from the root of the response'),
    reason: text('/reason', 'what was expected and what was found'),
    raw: text('/raw', 'the record as received'),
    utime: unixSeconds('/utime', 'time of the masterchain block; null if its header is not in the warehouse')
      .unit('seconds')
      .nullable(),
    found_at: unixSeconds('/foundAt', 'UTC time when it was read').unit('seconds'),
    found_date: dateOf('found_at', 'UTC date when it was read'),
  },
});

const quarantinePipeline = pipeline({
  name: 'quarantine',
  doc: 'Records that could not be decoded.',
  endpoint: 'GET /quarantine',
  walk: masterchain({
    seqno: 'seqno',
    proof: 'links',
    windows: { path: '/quarantine', column: 'found_at', order: 'ties' },
  }),
  tables: [quarantineTable],
});

/** The rows of the quarantine table for some records. */
export function quarantineBatch(records: readonly Quarantined[]): Batch {
  const decoder = new Decoder(quarantinePipeline);
  decoder.decode(Buffer.from(JSON.stringify({ quarantine: records })));
  return decoder.batches()[0] as Batch;
}
