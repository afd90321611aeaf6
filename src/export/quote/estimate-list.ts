import { intersectSpans, type Span, totalSize } from '../../core/span.ts';
import type { PipelineDef } from '../../declare/pipeline.ts';
import type { Registry } from '../../declare/registry.ts';
import type { LookupWalk, ParentsDef } from '../../declare/walk.ts';
import { doneSpans, type LedgerEntry, type Reader, spansOf } from '../../warehouse/index.ts';
import { boundOf } from '../lookup-keys.ts';
import { exactly, type Figure, NONE, sumOf } from './figure.ts';
import { type ListSample, type Sampling, sampleBlocks, sampleLt } from './list-sample.ts';
import { type Measured, measurePages } from './measure-pages.ts';
import { lengthOf, sampleSnapshot } from './snapshot-sample.ts';

/**
 * Where the figures of a pipeline that no header counts come from. `history`: what earlier runs of it took, per block. `keys`: the
 * keys that the warehouse holds. `sample`: a few requests of the same kind. `least`: nothing is known but what it takes at least.
 */
export type ListBasis = 'history' | 'keys' | 'sample' | 'least';

/** What a run would take for rows that no header counts. */
export interface ListEstimate {
  readonly rows: number;
  readonly requests: Readonly<Record<string, number>>;
  readonly band: number;
  readonly basis: ListBasis;
  /** Pages that were read, and what they became. */
  readonly measured?: Measured;
}

/** What an estimate is made from. */
export interface ListKnowledge {
  readonly ledger: readonly LedgerEntry[];
  readonly reader: Reader | undefined;
  readonly registry: Registry;
  readonly sampling: Sampling;
}

/** How far the figures of earlier runs may be off for other blocks. */
const DOUBT = 0.15;

/** Says what the missing blocks of a pipeline would take, as well as the warehouse or a few requests tell it. */
export async function estimateList(
  pipeline: PipelineDef,
  missing: readonly Span[],
  knowledge: ListKnowledge,
): Promise<ListEstimate> {
  const { ledger, reader } = knowledge;
  const { walk, name, endpoint } = pipeline;
  const path = endpoint.replace(/^[A-Z]+ /, '');
  const seqnos = totalSize(missing);
  const asked = (requests: number, rows: number, basis: ListBasis, band = 0): ListEstimate => ({
    ...{ rows, basis, band: Math.ceil(band) },
    requests: requests === 0 ? {} : { [path]: requests },
  });
  if (seqnos === 0) return asked(0, 0, 'history');
  if (walk.kind === 'lookup') {
    const keys = reader === undefined ? undefined : await countKeys(walk, pipeline, missing, ledger, reader);
    if (keys === undefined) return asked(1, 0, 'least');
    const batches = Math.ceil(keys / walk.batch);
    return asked(batches, keys, 'keys', walk.limit === undefined ? 1 : batches * DOUBT + 1);
  }
  const own = ledger.filter((entry) => entry.pipeline === name && entry.scope === undefined);
  const blocks = own.reduce((sum, entry) => sum + totalSize(spansOf(entry)), 0);
  if (blocks === 0) return sampled(pipeline, missing, knowledge);
  const requests = own.reduce((sum, entry) => sum + entry.requests, 0);
  const rows = own.reduce((sum, { tables }) => sum + (tables[pipeline.tables[0]?.name ?? '']?.rows ?? 0), 0);
  // A list as it is now is read whole, whatever the range.
  const scale = walk.kind === 'snapshot' ? 1 / own.length : seqnos / blocks;
  const value = Math.ceil(requests * scale);
  return asked(value, Math.round(rows * scale), 'history', walk.kind === 'block' ? 2 : value * DOUBT + 2);
}

async function sampled(
  pipeline: PipelineDef,
  missing: readonly Span[],
  knowledge: ListKnowledge,
): Promise<ListEstimate> {
  const sample = await sampleOf(pipeline, missing, knowledge);
  const { band } = sumOf([...sample.requests.values()]);
  return {
    ...{ rows: Math.round(sample.rows), basis: 'sample', band: Math.ceil(band) },
    requests: Object.fromEntries([...sample.requests].map(([path, { value }]) => [path, Math.round(value)])),
    measured: await measurePages(pipeline, sample.pages, knowledge.sampling.effects),
  };
}

async function sampleOf(
  pipeline: PipelineDef,
  missing: readonly Span[],
  knowledge: ListKnowledge,
): Promise<ListSample> {
  const { walk } = pipeline;
  const { sampling } = knowledge;
  switch (walk.kind) {
    case 'block':
      return sampleBlocks(sampling, pipeline, walk, missing);
    case 'lt':
      return sampleLt(sampling, pipeline, walk, missing);
    case 'snapshot':
      return sampleSnapshot(sampling, pipeline, walk, async () =>
        walk.parents === undefined ? NONE : countParents(walk.parents, pipeline, missing, knowledge),
      );
    default:
      return { rows: 0, requests: new Map(), pages: [] };
  }
}

/** Parents whose lists are read: those that the warehouse holds, or as many as the source lists. */
async function countParents(
  { query }: ParentsDef,
  { needs }: PipelineDef,
  missing: readonly Span[],
  { ledger, reader, registry, sampling }: ListKnowledge,
): Promise<Figure> {
  const isHeld = needs.every(
    (need) => totalSize(intersectSpans(missing, doneSpans(ledger, need))) === totalSize(missing),
  );
  if (isHeld && reader !== undefined) {
    const [span = { from: 0, to: 0 }] = missing;
    const { rows } = await reader.query(`SELECT count(*) FROM (${query})`, boundOf(query, span));
    return exactly(Number(rows[0]?.[0] ?? 0));
  }
  const [need = ''] = needs;
  const list = registry.pipeline(need);
  const { rows } = await lengthOf(sampling, list, list.walk.kind === 'snapshot' ? list.walk.limit : 1000);
  return exactly(rows);
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
