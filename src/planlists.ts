import type { LookupWalk, PipelineDef } from './declare/pipeline.ts';
import { intersectSpans, type Span, spanSize, totalSize } from './span.ts';
import { doneSpans } from './store/progress.ts';
import type { Reader } from './store/reader.ts';
import type { LedgerEntry } from './store/store.ts';
import { boundOf } from './walk/keys.ts';

/**
 * Where the figures of a pipeline that no header counts come from. `history`: what earlier runs of it took, per block. `keys`: the
 * keys that the warehouse holds. `least`: nothing is known but what it takes at least.
 */
export type ListBasis = 'history' | 'keys' | 'least';

/** What a run would take for rows that no header counts. */
export interface ListEstimate {
  readonly rows: number;
  readonly requests: Readonly<Record<string, number>>;
  readonly basis: ListBasis;
}

/** Says what the missing blocks of a pipeline would take, as well as what the warehouse holds tells it. */
export async function estimateList(
  pipeline: PipelineDef,
  missing: readonly Span[],
  ledger: readonly LedgerEntry[],
  reader: Reader | undefined,
): Promise<ListEstimate> {
  const { walk, name, endpoint } = pipeline;
  const path = endpoint.replace(/^[A-Z]+ /, '');
  const seqnos = totalSize(missing);
  const asked = (requests: number, rows: number, basis: ListBasis): ListEstimate => ({
    rows,
    requests: requests === 0 ? {} : { [path]: requests },
    basis,
  });
  if (seqnos === 0) return asked(0, 0, 'history');
  if (walk.kind === 'lookup') {
    const keys = reader === undefined ? undefined : await countKeys(walk, pipeline, missing, ledger, reader);
    return keys === undefined ? asked(1, 0, 'least') : asked(Math.ceil(keys / walk.batch), keys, 'keys');
  }
  const own = ledger.filter((entry) => entry.pipeline === name && entry.scope === undefined);
  const blocks = own.reduce((sum, { span }) => sum + spanSize(span), 0);
  if (blocks === 0) return asked(walk.kind === 'block' ? seqnos : 1, 0, 'least');
  const requests = own.reduce((sum, entry) => sum + entry.requests, 0);
  const rows = own.reduce((sum, { tables }) => sum + (tables[pipeline.tables[0]?.name ?? '']?.rows ?? 0), 0);
  // A list as it is now is read whole, whatever the range.
  const scale = walk.kind === 'snapshot' ? 1 / own.length : seqnos / blocks;
  return asked(Math.ceil(requests * scale), Math.round(rows * scale), 'history');
}

/** Keys that the declared query finds; undefined where the tables that it reads do not hold the range yet. */
async function countKeys(
  { query, keys }: LookupWalk,
  { needs }: PipelineDef,
  missing: readonly Span[],
  ledger: readonly LedgerEntry[],
  { query: read }: Reader,
): Promise<number | undefined> {
  const isHeld = needs.every(
    (need) => totalSize(intersectSpans(missing, doneSpans(ledger, need))) === totalSize(missing),
  );
  if (!isHeld) return undefined;
  let found = 0;
  for (const span of missing) {
    const columns = keys.map((name) => `"${name}"`).join(', ');
    const { rows } = await read(
      `SELECT count(*) FROM (SELECT DISTINCT ${columns} FROM (${query}))`,
      boundOf(query, span),
    );
    found += Number(rows[0]?.[0] ?? 0);
  }
  return found;
}
