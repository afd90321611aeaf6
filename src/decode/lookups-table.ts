import { fromRequest, int32, text } from '../declare/column.ts';
import { pipeline } from '../declare/pipeline.ts';
import { table } from '../declare/table.ts';
import { lookup } from '../declare/walk.ts';
import type { Batch } from './batch.ts';
import { Decoder } from './decoder.ts';

/** A key that was looked up. */
export interface LookedUp {
  readonly pipeline: string;
  readonly key: string;
  /** Why the source rejected it; null if it answered, with or without rows. */
  readonly error: string | null;
  /** Columns left out of the reading, as JSON; null for none. */
  readonly leftOut: string | null;
  readonly asOf: number;
  /** Unix time in milliseconds. */
  readonly readAt: number;
}

/** Every requested key, including those without rows. */
export const lookupsTable = table('lookups', {
  grain: 'one reading of one key by one lookup, even if it returned no rows',
  rows: { kind: 'records', path: '/lookups' },
  key: ['pipeline', 'key', '_read_at'],
  columns: {
    pipeline: text('/pipeline', 'pipeline that looked it up'),
    key: text(
      '/key',
      'parameter values, separated by spaces; values longer than 300 characters are replaced by their SHA-256 in hex',
    ),
    error: text('/error', 'why the source rejected the key; null if it answered, with or without rows').nullable(),
    left_out: text('/leftOut', 'columns left out of the reading, as JSON by table; null if none').nullable(),
    _as_of_seqno: int32('/asOf', 'latest masterchain block when the reading began'),
    _read_at: fromRequest('timestamp', 'read_at', 'UTC time when the reading began'),
  },
});

const lookups = pipeline({
  name: 'lookups',
  doc: 'Keys requested by lookups.',
  endpoint: 'GET /lookups',
  walk: lookup({ keys: ['key'], columns: [], query: 'select key from lookups' }),
  tables: [lookupsTable],
});

/** The rows of the lookups table for some readings. */
export function lookupsBatch(readings: readonly LookedUp[]): Batch {
  const decoder = new Decoder(lookups);
  const given = readings.map(({ readAt }) => ({ read_at: BigInt(readAt) * 1000n }));
  decoder.decode(Buffer.from(JSON.stringify({ lookups: readings.map(({ readAt: _, ...reading }) => reading) })), given);
  return decoder.batches()[0] as Batch;
}
